#!/usr/bin/env python3
"""Figures 6 to 8 of ISCA'14 from stored rows, with other averages than the figures'.

    averages.py [ROWS.json]      # results/preemption-isca14-paper.json where none is given

7a: NTT under FCFS over that under DSS by class, for the first process of each workload (the figure's) and for all
processes. 7c: the same means of STP. 8: the part of the workloads in which draining has the lower ANTT, and the part of
the positions in which it is lower where each of the two curves is sorted by itself. 6: STP under NPQ over that under PPQ,
by the application that has priority, with exclusive and with shared access.
"""

import json
import pathlib
import statistics as st
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLASS2 = {"spmv": "SHORT", "mri-q": "SHORT", "sgemm": "SHORT", "histo": "MEDIUM", "tpacf": "MEDIUM", "cutcp": "MEDIUM",
          "lbm": "LONG", "sad": "LONG", "stencil": "LONG", "mri-gridding": "LONG"}
FCFS, SWITCH, DRAIN = "fcfs", "dss:switch", "dss:drain"


def read(path):
    """NTTs by (priority given, applications), then by policy."""
    workloads = {}
    for cell in json.loads(path.read_text())["cells"]:
        policy, kernels = cell["spec"]["policy"], cell["spec"]["kernels"]
        name = ":".join([policy["name"], *policy["parameters"].values()])
        key = (any(k.get("priority", 0) for k in kernels), tuple(k["name"] for k in kernels))
        ntts = [k["turnaround_us"] / k["turnaround_alone_us"] for k in cell["result"]["kernels"]]
        workloads.setdefault(key, {})[name] = ntts
    return workloads


def averages(pairs):
    ratios = [a / b for a, b in pairs]
    means = [st.mean(ratios), st.geometric_mean(ratios), st.harmonic_mean(ratios), st.median(ratios),
             st.mean(a for a, _ in pairs) / st.mean(b for _, b in pairs)]
    return ",".join(f"{m:.2f}" for m in means)


def stp(ntts):
    return sum(1 / ntt for ntt in ntts)


def equal_sharing(rows, size):
    for policy in (SWITCH, DRAIN):
        for counted in ("first", "all"):
            groups = {}
            for apps, row in rows.items():
                for i in range(1 if counted == "first" else size):
                    for group in (CLASS2[apps[i]], "all"):
                        groups.setdefault(group, []).append((row[FCFS][i], row[policy][i]))
            for group in ("all", "SHORT", "MEDIUM", "LONG"):
                print(f"7a,{size},{policy},{counted} process: {group},{averages(groups[group])}")
        print(f"7c,{size},{policy},all,{averages([(stp(row[FCFS]), stp(row[policy])) for row in rows.values()])}")


def crossing(rows, size):
    antt = {policy: [st.mean(row[policy]) for row in rows.values()] for policy in (FCFS, SWITCH, DRAIN)}
    pairs = list(zip(*antt.values()))
    improved = [(s, d) for f, s, d in pairs if min(s, d) < f]
    sorted_pairs = list(zip(sorted(antt[SWITCH]), sorted(antt[DRAIN])))
    parts = [st.mean(d < s for s, d in some) for some in (list(zip(antt[SWITCH], antt[DRAIN])), improved, sorted_pairs)]
    print(f"8,{size},draining below context switch: workloads; those better than FCFS; positions of the sorted curves,,"
          + ",".join(f"{p:.2f}" for p in parts) + ",,")


def priorities(rows, size):
    for how in ("switch", "drain"):
        for app in (*CLASS2, None):
            some = [row for apps, row in rows.items() if app in (None, apps[0])]
            losses = [st.mean(stp(row["npq"]) / stp(row[f"ppq:{access}:{how}"]) for row in some)
                      for access in ("exclusive", "shared")]
            print(f"6,{size},ppq:{how},{app or 'all'}: exclusive; shared,{losses[0]:.3f},{losses[1]:.3f},,,")


def main():
    workloads = read(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results/preemption-isca14-paper.json")
    print("figure,processes,policy,what,arithmetic,geometric,harmonic,median,ratio_of_means")
    for size in (2, 4, 6, 8):
        equal = {apps: row for (given, apps), row in workloads.items() if not given and len(apps) == size and DRAIN in row}
        given = {apps: row for (given, apps), row in workloads.items() if given and len(apps) == size}
        if not equal:
            continue
        equal_sharing(equal, size)
        crossing(equal, size)
        priorities(given, size)


if __name__ == "__main__":
    main()
