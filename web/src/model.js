// The document as the page asks about it, and what the reader has chosen.
export const document_ = JSON.parse(document.getElementById('document').textContent);
export const runs = document_.runs ?? [];
export const runById = new Map(runs.map((r) => [r.id, r]));
export const figures = document_.figures ?? [];

export const labelOf = (run) => run.label ?? run.policy;
export const workloadOf = (run) => run.workload ?? run.kernels.map((k) => k.name).join(' + ');
const distinct = (values) => [...new Set(values)];

export const workloads = distinct(runs.map(workloadOf));
export const labels = distinct(runs.map(labelOf));
export const filterKeys = distinct(runs.flatMap((r) => Object.keys(r.filters ?? {})));
export const filterValues = (key) => distinct(runs.map((r) => r.filters?.[key]).filter((v) => v !== undefined));

// The lab's labels that follow from the workload: runs can be filtered by them, but they distinguish none.
const ofWorkload = new Set(['class', 'processes']);
// Whatever distinguishes runs of one workload and policy within a paper.
export const runKeys = filterKeys.filter((key) => !ofWorkload.has(key) && !['paper', 'protocol', 'gpu'].includes(key));

// The properties in which the given runs differ besides workload and policy, such as the goal or a swept parameter. Two runs
// with the same workload, label and values of these are the same run.
export const varying = (some) => filterKeys.filter((key) => !ofWorkload.has(key) && distinct(some.map((r) => r.filters?.[key])).length > 1);
export const valuesOf = (run, keys) => keys.map((key) => run.filters?.[key] ?? '–');
// "Rollover, goal 0.8": the label and the properties that distinguish the run.
export const nameOf = (run, keys) => [labelOf(run), ...keys.filter((k) => run.filters?.[k] !== undefined).map((k) => `${k} ${run.filters[k]}`)].join(', ');
export const distinctValues = distinct;

// The measures by which a run is judged; `better` says whether larger or smaller is better.
const allMetrics = [
  {key: 'stp', title: 'STP', about: 'system throughput: the sum of all rates relative to the isolated rates', digits: 3, better: 1,
   of: (r) => r.metrics.stp},
  {key: 'antt', title: 'ANTT', about: 'average slowdown', digits: 2, better: -1, of: (r) => r.metrics.antt},
  {key: 'worst_ntt', title: 'worst', about: 'largest slowdown', digits: 2, better: -1, of: (r) => r.metrics.worst_ntt},
  {key: 'starved', title: 'starved', about: 'part of the run in which a kernel had less than 5% of its isolated rate', digits: 2, better: -1,
   of: (r) => Math.max(...r.kernels.map((k) => k.starved)), isMeasured: (r) => r.kernels.every((k) => k.starved !== undefined)},
  {key: 'fairness', title: 'fairness', about: 'least progress over largest: 1 is fair', digits: 2, better: 1,
   of: (r) => r.metrics.fairness},
  {key: 'ipc', title: 'IPC', about: 'thread instructions a cycle, all kernels', digits: 0, better: 1, of: (r) => r.metrics.ipc},
  {key: 'watts', title: 'W', about: 'power', digits: 1, better: -1, of: (r) => r.power.watts, isMeasured: (r) => r.power?.watts > 0},
  {key: 'efficiency', title: 'Ginstr/J', about: 'thread instructions a joule, in billions', digits: 2, better: 1,
   of: (r) => r.power.instructions_per_joule / 1e9, isMeasured: (r) => r.power?.watts > 0},
];
// The block machine measures no power.
export const metricsOf = (some) => allMetrics.filter((m) => !m.isMeasured || some.every(m.isMeasured));

export function goalsOf(run) {
  const goals = run.kernels.filter((k) => k.goal !== null && k.goal !== undefined);
  return {all: goals.length, reached: goals.filter((k) => k.reached).length};
}

// The reader's choices. Code that changes one calls changed(). Papers have little in common: one at a time.
export const chosen = {
  workload: workloads[0], metric: 'stp', hidden: new Set(),
  filters: filterKeys.includes('paper') ? {paper: filterValues('paper')[0]} : {}, run: null, curve: 'ipc', verdict: null, paper: null,
};
const listeners = [];
export const onChange = (listener) => listeners.push(listener);
export const changed = () => listeners.forEach((l) => l());

const passes = (run) => Object.entries(chosen.filters).every(([key, value]) => !value || run.filters?.[key] === value);
export const passing = () => runs.filter(passes);
export const shown = () => passing().filter((r) => !chosen.hidden.has(labelOf(r)));
// The runs of the chosen workload, or of the first workload that the filters leave.
export function shownHere() {
  const all = shown();
  const workload = all.some((r) => workloadOf(r) === chosen.workload) ? chosen.workload : all.length ? workloadOf(all[0]) : null;
  return all.filter((r) => workloadOf(r) === workload);
}

// The run that is looked into: the one chosen while it is shown, else the first with a timeline.
export function current() {
  const here = shownHere();
  return here.find((r) => r.id === chosen.run) ?? here.find((r) => r.timeline) ?? here[0] ?? null;
}

export function choose(run) {
  for (const key of filterKeys) if (chosen.filters[key]) chosen.filters[key] = run.filters?.[key];
  chosen.hidden.delete(labelOf(run));
  chosen.run = run.id;
  chosen.workload = workloadOf(run);
  changed();
}
