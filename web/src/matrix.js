// One metric of every run: a row for each workload and value of the properties that vary, a column for each policy. Better values
// have a stronger colour. A click selects the run.
import {h, replace} from './dom.js';
import {fixed} from './format.js';
import {changed, choose, chosen, current, goalsOf, labelOf, labels, metricsOf, nameOf, shown, valuesOf, varying, workloadOf, workloads} from './model.js';

function strength(value, values, better) {
  const known = values.filter((v) => v !== null);
  const low = Math.min(...known);
  const high = Math.max(...known);
  if (value === null || high === low) return value === null ? 0 : 0.5;
  const part = (value - low) / (high - low);
  return better > 0 ? part : 1 - part;
}

function cell(run, values, metric, keys, selected) {
  if (!run) return h('td.none', {}, '');
  const goals = goalsOf(run);
  const value = metric.of(run);
  const missed = goals.all > 0 && goals.reached < goals.all;
  return h('td.cell' + (selected?.id === run.id ? '.selected' : ''),
           {style: `--strength:${strength(value, values, metric.better).toFixed(3)}`, tabindex: 0, 'data-run': run.id,
            title: `${workloadOf(run)} under ${nameOf(run, keys)}` + (missed ? ': a goal is missed' : ''),
            onclick: () => choose(run), onkeydown: (e) => e.key === 'Enter' && choose(run)},
           fixed(value, metric.digits), missed ? h('span.missed', {}, ' ✗') : null);
}

export function matrix() {
  const element = h('div');
  const update = () => {
    const runs = shown();
    const metrics = metricsOf(runs);
    const metric = metrics.find((m) => m.key === chosen.metric) ?? metrics[0];
    const columns = labels.filter((l) => runs.some((r) => labelOf(r) === l));
    const keys = varying(runs);
    const selected = current();
    const byWorkload = new Map(workloads.map((workload) => [workload, []]));
    for (const r of runs) byWorkload.get(workloadOf(r)).push(r);
    const rows = [...byWorkload].flatMap(([workload, itsRuns]) => {
      const all = new Map();  // runs by the values of the varying properties, in the order of the document
      for (const r of itsRuns) {
        const values = valuesOf(r, keys);
        const row = all.get(values.join()) ?? {workload, values, runs: []};
        all.set(values.join(), row);
        row.runs.push(r);
      }
      return [...all.values()];
    });
    const chooser = h('div.chips', {role: 'group', 'aria-label': 'metric'}, metrics.map((m) =>
      h('button.chip' + (m.key === metric.key ? '.on' : ''),
        {type: 'button', title: m.about, onclick: () => { chosen.metric = m.key; changed(); }}, m.title)));
    replace(element, chooser, h('div.scroll.tall', {tabindex: 0, role: 'region', 'aria-label': 'policies and workloads'}, h('table.matrix', {},
      h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'workload'), keys.map((k) => h('th', {scope: 'col'}, k)), columns.map((c) => h('th', {scope: 'col'}, h('span', {}, c))))),
      h('tbody', {}, rows.map((row) => {
        const here = columns.map((c) => row.runs.find((r) => labelOf(r) === c));
        const values = here.filter(Boolean).map(metric.of);
        return h('tr', {}, h('th', {scope: 'row'}, row.workload), row.values.map((v) => h('td.key', {}, v)),
                 here.map((run) => cell(run, values, metric, keys, selected)));
      })))));
  };
  return {element, update};
}
