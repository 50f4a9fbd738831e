"""Tests of the Python package. PYTHONPATH names the build's package; WM is the program."""

import doctest
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np
import warpmux
from warpmux import policy as policy_module

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAXPY = os.path.join(ROOT, "examples/saxpy/saxpy.ptx")
PAIR = ["fma:size=small", "vecadd:size=small"]


class Halves(warpmux.Policy):
    """Even spatial sharing, as src/policy/impl/spatial.cc."""

    name = "halves"
    needs = ("own_sms", "drain")

    def on_kernel_set_changed(self, gpu):
        kernels, sms = sorted(gpu.kernels, key=lambda k: k.id), gpu.sms
        for sm in sms:
            if kernels:
                gpu.give(sm.id, kernels[sm.id * len(kernels) // len(sms)].id)


class Simulation(unittest.TestCase):
    def test_arguments_of_another_type_are_named(self):
        for options in ({"kernels": 5}, {"kernels": [5]}, {"policy": 5}, {"progress": 3}, {"once": "yes"}, {"gpu": 5},
                        {"size": None}, {"timeline": np.zeros(2)}, {"threads": "two"}, {"seed": None}):
            with self.assertRaisesRegex(TypeError, f"'{next(iter(options))}' must be"):
                warpmux.simulate(**{"kernels": PAIR, "cycles": 100, **options})
        for threads in (0, 65):
            with self.assertRaisesRegex(ValueError, "from 1 to 64"):
                warpmux.simulate(PAIR, cycles=100, threads=threads)

    def test_dir_lists_the_names_of_the_package_only(self):
        self.assertEqual(dir(warpmux), sorted(warpmux.__all__))

    def test_co_runs_are_steady_without_a_length(self):
        steady = warpmux.simulate(PAIR, timeline=False)
        self.assertGreater(steady.kernels[1].launches_done, 1)
        self.assertEqual(*(k["cycles"] for k in steady.data["kernels"]))
        once = warpmux.simulate(PAIR, once=True, timeline=False)
        self.assertTrue(all(k.verified for k in once.kernels))

    def test_equal_runs_have_equal_hashes_for_any_number_of_threads(self):
        a = warpmux.simulate(PAIR, policy="spatial", cycles=5000)
        b = warpmux.simulate(PAIR, policy="spatial", cycles=5000, threads=2, timeline=False)
        self.assertEqual(a.run_hash, b.run_hash)
        self.assertEqual([k.name for k in a.kernels], ["fma", "vecadd"])
        self.assertGreater(a.kernels[0].normalized, 0)

    def test_a_run_has_the_hash_of_the_command_line(self):
        out = subprocess.run([os.environ["WM"], "sim", "--kernel", PAIR[0], "--kernel", PAIR[1], "--policy", "spatial",
                              "--cycles", "5000", "--json", "-"], check=True, capture_output=True).stdout
        run = warpmux.simulate(PAIR, policy="spatial", cycles=5000)
        self.assertEqual(json.loads(out)["run_hash"], run.run_hash)

    def test_errors_are_those_of_the_command_line(self):
        with self.assertRaisesRegex(warpmux.Error, "did you mean 'spatial'"):
            warpmux.simulate(PAIR, policy="spatail", cycles=100)
        with self.assertRaisesRegex(ValueError, "sgem"):
            warpmux.simulate("sgem", cycles=100)
        for cycles in (-5, 10**23):
            with self.assertRaisesRegex(ValueError, f"'cycles' must be a whole number from 0 to .*, not {cycles}"):
                warpmux.simulate(PAIR, cycles=cycles)
        with self.assertRaisesRegex(TypeError, "'cycles' must be a whole number, not 2.5"):
            warpmux.simulate(PAIR, cycles=2.5)

    def test_numbers_of_numpy_are_numbers(self):
        plain = warpmux.simulate(PAIR[0], cycles=2000, seed=3, timeline=False)
        numpy = warpmux.simulate(PAIR[0], cycles=np.int64(2000), seed=np.uint32(3), timeline=False)
        self.assertEqual(plain.run_hash, numpy.run_hash)
        sweep = warpmux.sweep(PAIR[0], cycles=np.array([1000, 2000]), seed=range(1, 3), timeline=False)
        self.assertEqual([(r["cycles"], r["seed"]) for r in sweep.rows], [(1000, 1), (1000, 2), (2000, 1), (2000, 2)])

    def test_an_interrupt_ends_a_run_without_a_progress_bar(self):
        program = ("import warpmux; print('begins', flush=True); "
                   "warpmux.simulate(['lbm', 'sgemm'], policy='even', cycles=10**9, timeline=False, cache='')")
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdout.readline()
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        _, error = child.communicate(timeout=60)
        self.assertIn(b"KeyboardInterrupt", error)

    def test_progress_ends_at_one_and_may_stop_the_run(self):
        seen = []
        warpmux.simulate(PAIR, policy="even", cycles=20000, progress=lambda name, done: seen.append((name, done)))
        self.assertAlmostEqual(seen[-1][1], 1)
        self.assertEqual(seen[-1][0], "even")

        def stop(name, done):
            raise KeyError("enough")

        with self.assertRaises(KeyError):
            warpmux.simulate(PAIR, policy="even", cycles=20000, progress=stop)

    def test_notebooks_show_tables_and_the_timeline(self):
        run = warpmux.simulate(PAIR, policy="spatial", cycles=5000)
        text = run._repr_html_()
        self.assertIn('<th scope="col">normalized</th>', text)
        self.assertGreater(text.count("<rect"), 16)
        self.assertEqual(warpmux.simulate(PAIR, cycles=1000, timeline=False).timeline_svg(), "")

    def test_all_policies_that_fit_are_compared(self):
        c = warpmux.compare(PAIR, "all", cycles=1000, timeline=False)
        self.assertGreater(len(c), 8)
        self.assertTrue(c.unfit)
        order = [(r.starved, r.metrics["worst_ntt"]) for r in c]
        self.assertEqual(order, sorted(order))
        self.assertIn("<td>spatial</td>", c._repr_html_())
        self.assertIs(c["spatial"], next(r for r in c if r.policy == "spatial"))
        self.assertIs(c[0], c.runs[0])
        with self.assertRaisesRegex(KeyError, "no run under 'spatail'; there are "):
            c["spatail"]

    def test_a_kernel_without_progress_has_an_infinite_slowdown(self):
        run = warpmux.simulate(["lbm:size=small", "fma:size=small"], policy="fcfs", cycles=1000)
        self.assertEqual(run.metrics["worst_ntt"], float("inf"))
        self.assertIn("ANTT inf", repr(run))
        self.assertIn("inf", run._repr_html_())

    def test_a_wrong_result_is_a_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            for file in ("saxpy.yaml", "saxpy.ptx"):
                with open(os.path.join(os.path.dirname(SAXPY), file), encoding="utf-8") as text:
                    content = text.read().replace("step: 2.5", "step: 2.0")
                with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                    out.write(content)
            with self.assertWarnsRegex(UserWarning, "computed a wrong result under left_over: y.1. is 3.5, expected 3"):
                run = warpmux.simulate(os.path.join(folder, "saxpy.yaml"), timeline=False, cache="")
            self.assertIs(run.kernels[0].verified, False)


class Policies(unittest.TestCase):
    def test_a_policy_in_python_decides_as_the_same_policy_in_cpp(self):
        ours = warpmux.simulate(PAIR, policy=Halves, cycles=8000)
        theirs = warpmux.simulate(PAIR, policy="spatial", cycles=8000)
        self.assertEqual(ours.policy, "halves")
        self.assertEqual([k.instructions for k in ours.kernels], [k.instructions for k in theirs.kernels])

    def test_an_exception_ends_the_run(self):
        class Broken(warpmux.Policy):
            def on_kernel_set_changed(self, gpu):
                raise ZeroDivisionError("here")

        with self.assertRaises(ZeroDivisionError):
            warpmux.simulate(PAIR, policy=Broken, cycles=1000)
        warpmux.simulate(PAIR, policy=Halves, cycles=1000)  # the next run is not affected

    def test_an_undeclared_action_is_refused(self):
        class Undeclared(warpmux.Policy):
            def on_kernel_set_changed(self, gpu):
                gpu.cap(0, gpu.kernels[0].id, 1)

        with self.assertRaisesRegex(ValueError, "cap_blocks"):
            warpmux.simulate(PAIR, policy=Undeclared, cycles=1000)

    def test_ids_are_checked(self):
        class Wrong(warpmux.Policy):
            needs = ("own_sms", "drain")

            def on_kernel_set_changed(self, gpu):
                gpu.give(1000, 0)

        with self.assertRaises(IndexError):
            warpmux.simulate(PAIR, policy=Wrong, cycles=1000)

    def test_misspelt_events_and_capabilities_are_named(self):
        with self.assertRaisesRegex(TypeError, "no event 'on_kernel_arived' .did you mean 'on_kernel_arrived'"):
            type("Misspelt", (warpmux.Policy,), {"on_kernel_arived": lambda self, gpu, kernel: None})
        with self.assertRaisesRegex(TypeError, "'needs' a list of texts"):
            type("Word", (warpmux.Policy,), {"needs": "own_sms"})
        unknown = type("Unknown", (warpmux.Policy,), {"needs": ("own_sm",)})
        with self.assertRaisesRegex(ValueError, "no capability 'own_sm' .did you mean 'own_sms'"):
            warpmux.simulate(PAIR, policy=unknown, cycles=1000)

    def test_actions_take_the_names_of_the_stubs(self):
        seen = []

        class Named(warpmux.Policy):
            needs = ("own_sms", "drain")

            def on_kernel_set_changed(self, gpu):
                for kernel in gpu.kernels[:1]:
                    gpu.give(sm=0, kernel=kernel.id, how="drain")
                    seen.append(gpu.resident(sm=0, kernel=kernel.id))

        warpmux.simulate(PAIR, policy=Named, cycles=1000)
        self.assertTrue(seen)

    def test_the_machine_is_valid_during_an_event_only(self):
        class Keeper(warpmux.Policy):
            kept = None

            def on_started(self, gpu):
                Keeper.kept = gpu

        warpmux.simulate(PAIR, policy=Keeper, cycles=1000)
        with self.assertRaises(RuntimeError):
            print(Keeper.kept.now)


class Kernels(unittest.TestCase):
    def test_a_kernel_runs_on_arrays(self):
        n = 1000
        x, y = np.arange(n, dtype=np.float32), np.ones(n, dtype=np.float32)
        counts = warpmux.kernel(SAXPY, "saxpy").run(4, 256, n, 2.5, x, y)
        np.testing.assert_array_equal(y, 2.5 * x + 1)
        self.assertEqual(counts["blocks"], 4)

    def test_an_array_that_is_passed_twice_is_one_buffer(self):
        y = np.ones(64, dtype=np.float32)
        warpmux.kernel(SAXPY).run((2, 1), (32,), 64, 2, y, y)
        np.testing.assert_array_equal(y, np.full(64, 3, dtype=np.float32))

    def test_a_read_only_array_can_be_read_and_not_written(self):
        x, y = np.ones(64, dtype=np.float32), np.ones(64, dtype=np.float32)
        x.setflags(write=False)
        warpmux.kernel(SAXPY).run(2, 32, 64, 2.0, x, y)
        np.testing.assert_array_equal(y, np.full(64, 3, dtype=np.float32))
        with self.assertRaisesRegex(ValueError, "argument 3: the kernel writes to an array that is read-only"):
            warpmux.kernel(SAXPY).run(2, 32, 64, 2.0, y, x)
        np.testing.assert_array_equal(x, np.ones(64, dtype=np.float32))

    def test_arrays_that_overlap_in_part_are_refused(self):
        x = np.ones(65, dtype=np.float32)
        for a, b in ((x[:64], x[1:]), (x[:64], x[:63]), (x[:32], x)):
            with self.assertRaisesRegex(ValueError, "arguments 2 and 3 are arrays that overlap"):
                warpmux.kernel(SAXPY).run(1, 32, 16, 2.0, a, b)
        halves = np.ones(64, dtype=np.float32)
        warpmux.kernel(SAXPY).run(1, 32, 32, 2.0, halves[:32], halves[32:])
        np.testing.assert_array_equal(halves, np.repeat(np.float32([1, 3]), 32))

    def test_empty_arrays_and_numbers_in_arrays(self):
        none = np.zeros(0, dtype=np.float32)
        warpmux.kernel(SAXPY).run(1, 32, 0, 2.0, none, none)
        with self.assertRaises(warpmux.Error):
            warpmux.kernel(SAXPY).run(1, 32, 1, 2.0, none, np.ones(1, dtype=np.float32))
        x, y = np.ones(64, dtype=np.float32), np.ones(64, dtype=np.float32)
        warpmux.kernel(SAXPY).run(2, 32, np.array(64), np.array(2.0), x, y)
        np.testing.assert_array_equal(y, np.full(64, 3, dtype=np.float32))

    def test_extents_and_scalars_may_be_of_numpy(self):
        x, y = np.ones(64, dtype=np.float32), np.ones(64, dtype=np.float32)
        warpmux.kernel(SAXPY).run(np.int32(2), np.array([32, 1]), np.int32(64), np.float32(2), x, y)
        np.testing.assert_array_equal(y, np.full(64, 3, dtype=np.float32))

    def test_wrong_arguments_are_refused(self):
        saxpy, x = warpmux.kernel(SAXPY), np.zeros(64, dtype=np.float32)
        for arguments in ((), (64, 2.0, x), (64, 2.0, x, x, x), (x, 2.0, x, x), (1.5, 2.0, x, x)):
            with self.assertRaises(TypeError):
                saxpy.run(1, 32, *arguments)
        with self.assertRaises(ValueError):
            saxpy.run(1, 32, 1 << 32, 2.0, x, x)
        with self.assertRaises(TypeError):
            saxpy.run(1, 32, 64, 2j, x, x)
        for wrong, kind in (([1.0] * 64, "list"), ("n", "str"), (None, "NoneType")):
            with self.assertRaisesRegex(TypeError, f"argument 2 must be a number or a numpy array, not {kind}"):
                saxpy.run(1, 32, 64, 2.0, wrong, x)
        for grid in (-1, 1 << 33, (1, 1, 1, 1), ()):
            with self.assertRaisesRegex(ValueError, "'grid'"):
                saxpy.run(grid, 32, 64, 2.0, x, x)
        with self.assertRaisesRegex(ValueError, "'shared' must be a whole number from 0"):
            saxpy.run(1, 32, 64, 2.0, x, x, shared=-1)
        with self.assertRaises(warpmux.Error):
            warpmux.kernel(sys.executable)
        with self.assertRaisesRegex(TypeError, "'file' must be the path"):
            warpmux.kernel(5)
        with self.assertRaisesRegex(ValueError, "did you mean 'saxpy'"):
            warpmux.kernel(SAXPY, "saxpi")
        with self.assertRaisesRegex(ValueError, "contiguous"):
            saxpy.run(1, 32, 64, 2.0, x, np.zeros((64, 2), dtype=np.float32)[:, 0])

    def test_arrays_of_other_things_than_numbers_are_refused(self):
        saxpy, x = warpmux.kernel(SAXPY), np.zeros(64, dtype=np.float32)
        swapped = np.dtype(np.float32).newbyteorder()
        for kind in (object, "S4", "U4", "M8[s]", swapped, [("a", "i4"), ("b", object)], [("a", swapped)]):
            with self.assertRaisesRegex(TypeError, "argument 2: an array of .* holds no plain numbers"):
                saxpy.run(1, 32, 64, 2.0, np.zeros(64, dtype=kind), x)
        pairs = np.ones(32, dtype=[("a", np.float32), ("b", np.float32)])
        saxpy.run(2, 32, 64, 2.0, pairs, x)
        np.testing.assert_array_equal(x, np.full(64, 2, dtype=np.float32))

    def test_an_interrupt_ends_an_endless_kernel(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "endless.ptx")
            with open(file, "w", encoding="utf-8") as out:
                out.write(".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry endless() {\nagain:\n bra again;\n}\n")
            code = f"import warpmux; print('begins', flush=True); warpmux.kernel({file!r}).run(1, 32)"
            child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            child.stdout.readline()
            time.sleep(0.3)
            child.send_signal(signal.SIGINT)
            try:
                self.assertIn(b"KeyboardInterrupt", child.communicate(timeout=20)[1])
            finally:
                child.kill()

    def test_a_fault_is_an_error_and_changes_no_array(self):
        x, y = np.ones(8, dtype=np.float32), np.ones(8, dtype=np.float32)
        with self.assertRaises(warpmux.Error):
            warpmux.kernel(SAXPY).run(1, 64, 64, 2.0, x, y)
        np.testing.assert_array_equal(y, np.ones(8, dtype=np.float32))


class Stores(unittest.TestCase):
    def test_rows_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(warpmux.Error):
                warpmux.read_store(os.path.join(folder, "none.db"))
            experiment, store = os.path.join(folder, "e.yaml"), os.path.join(folder, "s.db")
            with open(experiment, "w", encoding="utf-8") as file:
                file.write("title: tiny\ngpus: [qos16]\npolicies: {A: left_over}\nworkloads: [[fma, vecadd]]\n"
                           "protocols: {quick: {cycles: 1000, size: small, about: one}}\n"
                           "plot: {x: workload, series: policy, y: mean(stp)}\n")
            subprocess.run([os.environ["WM"], "lab", "run", experiment, "--store", store], check=True, capture_output=True)
            rows = warpmux.read_store(store)
            self.assertEqual([r["state"] for r in rows], ["done"])
            self.assertEqual(rows[0]["result"]["run_hash"], rows[0]["run_hash"])
            exported = os.path.join(folder, "s.json")
            subprocess.run([os.environ["WM"], "lab", "export", "--store", store, "--json", exported], check=True, capture_output=True)
            self.assertEqual([r["key"] for r in warpmux.read_store(exported)], [rows[0]["key"]])


class Documents(unittest.TestCase):
    def test_the_notebook_runs(self):
        folder = os.path.join(ROOT, "examples/python")
        with open(os.path.join(folder, "policies.ipynb"), encoding="utf-8") as file:
            notebook = json.load(file)
        self.assertEqual(notebook["nbformat"], 4)
        names, before = {"__name__": "notebook"}, os.getcwd()
        os.chdir(folder)
        try:
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    self.assertEqual(cell["outputs"], [])
                    exec(compile("".join(cell["source"]), "policies.ipynb", "exec"), names)
        finally:
            os.chdir(before)
        self.assertEqual(len(names["comparison"]), 3)

    def test_stubs_name_everything_that_the_module_has(self):
        from warpmux import _core

        with open(os.path.join(os.path.dirname(warpmux.__file__), "_core.pyi"), encoding="utf-8") as file:
            text = file.read()
        for name in (n for n in dir(_core) if not n.startswith("_")):
            self.assertRegex(text, rf"(?m)^(class|def) {name}\b")
        # Attributes agree in both directions, by class.
        classes = dict(re.findall(r"(?m)^class (\w+)[^\n]*:\n((?:    .*\n)+)", text))
        for name, body in classes.items():
            named = set(re.findall(r"(?m)^    (?:def )?(\w+)[:(]", body)) - {"__init__"}
            self.assertEqual(named, {n for n in dir(getattr(_core, name)) if not n.startswith("_")}, name)

    def test_everything_public_has_a_docstring(self):
        for name in warpmux.__all__:
            thing = getattr(warpmux, name)
            self.assertTrue(thing.__doc__, name)
            if isinstance(thing, type) and thing.__module__.startswith("warpmux") and thing.__module__ != "warpmux._core":
                for attribute, value in vars(thing).items():
                    if not attribute.startswith("_") and (callable(value) or isinstance(value, property)):
                        self.assertTrue(value.__doc__, f"{name}.{attribute}")

    def test_the_examples_of_the_guide_run(self):
        with open(os.path.join(ROOT, "docs/guide/python.md"), encoding="utf-8") as file:
            examples = re.findall(r"```python\n(.*?)```", file.read(), re.S)
        x = np.arange(1000, dtype=np.float32)
        names, before = {"n": 1000, "x": x, "y": np.ones_like(x), "warpmux": warpmux}, os.getcwd()
        os.chdir(ROOT)
        try:
            for example in examples:
                small = re.sub(r"\b100_000\b", "1500", re.sub(r"\b50_000\b", "1000", example)).replace(
                    "progress=True", "progress=False")
                exec(compile(small, "python.md", "exec"), names)
        finally:
            os.chdir(before)
        np.testing.assert_array_equal(names["y"], 2.5 * x + 1)
        self.assertEqual(len(names["sweep"]), 4)


def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocTestSuite(warpmux, globs={"warpmux": warpmux}))
    tests.addTests(doctest.DocTestSuite(policy_module))
    return tests


if __name__ == "__main__":
    unittest.main()
