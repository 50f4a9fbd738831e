"""Makes the data file of run.sh from its rows, and prints them as a table.

    summary.py ROWS.jsonl OUT.json COMMAND
"""
import datetime
import json
import subprocess
import sys


def device() -> tuple[str, str]:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        words = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip().split(", ")
        return words[0], words[1]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "simulated", "none"


def main() -> None:
    rows_file, out, command = sys.argv[1:4]
    with open(rows_file, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        if "status" in row:  # what the programs did, without what only this run knows
            row["clients"] = [
                {"name": c["name"], "mechanism": c["mechanism"], "goal": c["goal"], "reached": c["reached"],
                 "launches": c["launches"], **c["counters"],
                 **({"kernels": c["kernels"]} if c.get("kernels") else {})} for c in row.pop("status")["clients"]]
    name, driver = device()
    with open(out, "w", encoding="utf-8") as file:
        document = {"schema": 1, "date": datetime.date.today().isoformat(), "device": name, "driver": driver,
                    "command": command}
        text = json.dumps(document, indent=1)[:-2] + ',\n "rows": [\n'
        file.write(text + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]\n}\n")
    single = {}
    for row in rows:
        result = row.get("result", {})
        if row["setup"] == "single" and "kind" in result:
            single[result["kind"]] = result.get("launches_per_second")
        if "p50_us" in result:
            spread = f'  p99 of parts {result["parts_p99_us"]}' if "parts_p99_us" in result else ""
            print(f'{row["setup"]:28} {result["kind"]:10} beside {row["beside"]:8} p50 {result["p50_us"]:9.1f} us'
                  f'  p99 {result["p99_us"]:9.1f} us  wrong {result.get("wrong", 0)}{spread}')
            if "span_us" in result:
                print("   p50, p90, p99, slowest hundredth: " + ", ".join(
                    f"{name} {result[name]}" for name in ("total_us", "span_us", "starts_us", "block_us", "outside_us")))
        elif "launches_per_second" in result:
            whole = single.get(result["kind"])
            part = f'  {100 * result["launches_per_second"] / whole:5.1f}% of a single run' if whole else ""
            print(f'{row["setup"]:28} {result["kind"]:10} beside {row["beside"]:8} '
                  f'{result["launches_per_second"]:8.1f} launches/s{part}  wrong {result["wrong"]}')
        elif result.get("kind") == "green":
            print(f'{row["setup"]:28} {result}')
        elif "launch_ns" in result:
            print(f'{row["setup"]:28} {result["kind"]:10} {result["launch_ns"]:8.1f} ns a launch, '
                  f'p10 {result["p10_ns"]:.1f}')


main()
