// Policies of one workload side by side: each kernel's rate relative to its isolated rate as a bar, and the metrics.
import {h, replace} from './dom.js';
import {fixed} from './format.js';
import {choose, current, goalsOf, labelOf, metricsOf, shownHere, valuesOf, varying} from './model.js';

// The best value of several runs; one run is neither best nor worst.
function best(runs, metric) {
  if (runs.length < 2) return undefined;
  const values = runs.map(metric.of).filter((v) => v !== null);
  return metric.better > 0 ? Math.max(...values) : Math.min(...values);
}

function progress(kernel, index, longest) {
  const width = Math.min(100, 100 * kernel.normalized / longest);
  const goal = kernel.goal && kernel.ipc_alone ? 100 * kernel.goal / kernel.ipc_alone / longest : null;
  return h('td.progress', {'data-name': kernel.name, title: `${kernel.name}: IPC ${fixed(kernel.ipc, 1)}, isolated ${fixed(kernel.ipc_alone, 1)}`},
           h('div.track', {},
             h('div.fill', {style: `width:${width}%;background:var(--kernel-${index % 8})`}),
             goal === null ? null : h('div.goal', {style: `left:${Math.min(100, goal)}%`, title: 'goal'})),
           h('span', {}, fixed(kernel.normalized)));
}

function row(run, runs, metrics, keys, longest, anyGoals) {
  const goals = goalsOf(run);
  const met = goals.reached === goals.all;
  const selected = current()?.id === run.id;
  return h('tr' + (selected ? '.selected' : ''), {'data-run': run.id, tabindex: 0, 'aria-selected': String(selected),
             onclick: () => choose(run), onkeydown: (e) => e.key === 'Enter' && choose(run)},
           h('th', {scope: 'row', title: run.parameters}, labelOf(run)),
           valuesOf(run, keys).map((value, i) => h('td.number', {'data-name': keys[i]}, value)),
           run.kernels.map((k, i) => progress(k, i, longest)),
           !anyGoals ? null : !goals.all ? h('td', {'data-name': 'goals'}, '–')
             : h('td', {'data-name': 'goals'}, h('span.badge' + (met ? '.good' : '.bad'), {}, `${met ? '✓' : '✗'} ${goals.reached}/${goals.all}`)),
           metrics.map((m) => h('td.number' + (m.of(run) === best(runs, m) ? '.best' : ''), {'data-name': m.title}, fixed(m.of(run), m.digits))));
}

export function policyTable() {
  const element = h('div.scroll');
  const update = () => {
    const runs = shownHere();
    if (!runs.length) return replace(element, h('p.empty', {}, 'No run is left by the filters.'));
    const longest = Math.max(1, ...runs.flatMap((r) => r.kernels.map((k) => k.normalized)));
    const kernels = runs[0].kernels;
    const keys = varying(runs);
    const metrics = metricsOf(runs);
    const anyGoals = runs.some((r) => goalsOf(r).all);
    replace(element, h('table.policies', {},
      h('thead', {}, h('tr', {},
        h('th', {scope: 'col'}, 'policy'),
        keys.map((key) => h('th.number', {scope: 'col'}, key)),
        kernels.map((k, i) => h('th', {scope: 'col'}, h('i.dot', {style: `background:var(--kernel-${i % 8})`}), k.name)),
        anyGoals ? h('th', {scope: 'col', title: 'goals reached, of all'}, 'goals') : null,
        metrics.map((m) => h('th.number', {scope: 'col', title: m.about}, m.title)))),
      h('tbody', {}, runs.map((r) => row(r, runs, metrics, keys, longest, anyGoals)))));
  };
  return {element, update};
}
