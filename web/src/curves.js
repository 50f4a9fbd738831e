// The activity of each kernel over time, drawn below the timeline with the same axis.
import {draw, widthOf} from './chart.js';
import {h, replace} from './dom.js';
import {changed, chosen} from './model.js';
import {colour, kernelColour} from './theme.js';
import {kLeft} from './timeline.js';

const kCurves = [
  {key: 'ipc', title: 'IPC', axis: 'instructions a cycle', goal: true},
  {key: 'bandwidth', title: 'bandwidth', axis: 'GB/s of DRAM'},
  {key: 'l1_hit', title: 'L1 hits', axis: 'of sectors', format: '.0%'},
  {key: 'l2_hit', title: 'L2 hits', axis: 'of sectors', format: '.0%'},
  {key: 'quota', title: 'quota', axis: 'instructions left'},
  {key: 'memory', title: 'memory stalls', axis: 'of scheduler cycles', format: '.0%', of: (k) => k.stalls?.memory},
  {key: 'watts', title: 'power', axis: 'W', chip: true},
];
const kZeroPlain = "datum.value === 0 ? '0' : datum.label";  // not 0k
const valuesOf = (curve, kernel) => (curve.of ? curve.of(kernel) : kernel[curve.key]);
const has = (curve, c) => (curve.chip ? c[curve.key] : c.kernels.some((k) => valuesOf(curve, k)));

function rowsOf(curve, run) {
  const c = run.timeline.curves;
  const middle = (i) => c.begin[i] + c.cycles[i] / 2;
  if (curve.chip) return c[curve.key].map((value, i) => ({cycle: middle(i), kernel: 'GPU', value}));
  return run.kernels.flatMap((k, n) => (valuesOf(curve, c.kernels[n]) ?? [])
    .map((value, i) => ({cycle: middle(i), kernel: k.name, value})).filter((r) => r.value !== null));
}

function specOf(curve, run, width) {
  const names = curve.chip ? ['GPU'] : run.kernels.map((k) => k.name);
  const range = curve.chip ? [colour('text')] : names.map((_, i) => kernelColour(i));
  const goals = curve.goal
    ? run.kernels.map((k, i) => ({kernel: k.name, value: run.timeline.curves.kernels[i].goal})).filter((g) => g.value) : [];
  const color = {field: 'kernel', type: 'nominal', legend: null, scale: {domain: names, range}};
  return {
    width: width - kLeft, height: 130, autosize: {type: 'none'}, padding: {left: kLeft, top: 14, right: 0, bottom: 34},
    layer: [
      {data: {values: rowsOf(curve, run)}, mark: {type: 'line', strokeWidth: 1.6, interpolate: 'monotone'},
       encoding: {
         x: {field: 'cycle', type: 'quantitative', title: 'cycle', scale: {domain: [0, run.timeline.cycles], nice: false},
             axis: {format: '~s', labelExpr: kZeroPlain, grid: false, tickCount: Math.max(3, Math.floor(width / 110))}},
         y: {field: 'value', type: 'quantitative', title: null, axis: {tickCount: 4, format: curve.format ?? '~s', labelExpr: kZeroPlain, domain: false}},
         color,
         tooltip: [{field: 'kernel'}, {field: 'cycle', format: ',.0f'}, {field: 'value', title: curve.title, format: curve.format ?? ',.1f'}]}},
      {data: {values: goals}, mark: {type: 'rule', strokeDash: [4, 3], strokeWidth: 1.4},
       encoding: {y: {field: 'value', type: 'quantitative'}, color}},
    ],
  };
}

export function curves() {
  const tabs = h('div.chips', {role: 'tablist'});
  const chart = h('div.chart');
  const note = h('span.note');
  const element = h('div.curves', {}, h('div.line', {}, tabs, note), chart);
  const update = (run) => {
    const here = kCurves.filter((c) => has(c, run.timeline.curves));
    const curve = here.find((c) => c.key === chosen.curve) ?? here[0];
    replace(tabs, here.map((c) => h('button.chip' + (c === curve ? '.on' : ''),
      {type: 'button', role: 'tab', 'aria-selected': String(c === curve), 'data-curve': c.key,
       onclick: () => { chosen.curve = c.key; changed(); }}, c.title)));
    replace(note, curve.axis + (curve.goal && run.kernels.some((k) => k.goal) ? '; dashed: the goal' : ''));
    draw(chart, specOf(curve, run, widthOf(chart)));
  };
  return {element, update};
}
