// Normalized rates: one group of bars per run, one bar per kernel, goals as ticks. A click selects the run.
import {draw, isNarrow, legendOf, widthOf} from './chart.js';
import {h} from './dom.js';
import {choose, nameOf, runs as all, shownHere, varying} from './model.js';
import {colour, kernelColour} from './theme.js';

export function bars() {
  const element = h('div.chart', {role: 'img', 'aria-label': 'normalized rates of each kernel'});
  const update = () => {
    const runs = shownHere();
    const keys = varying(runs);
    const names_ = new Map(runs.map((run) => [run.id, nameOf(run, keys)]));
    const rows = runs.flatMap((run) => run.kernels.map((k, i) => ({
      id: run.id, run: names_.get(run.id), kernel: `${k.name}`, order: i, part: k.normalized,
      goal: k.goal && k.ipc_alone ? k.goal / k.ipc_alone : null,
    })));
    if (!rows.length) return element.replaceChildren();
    const names = runs[0].kernels.map((k) => k.name);
    // On a phone the parts of a name stand below each other.
    const parts = isNarrow() ? [...names_.values()].map((n) => n.split(', ')) : [...names_.values()].map((n) => [n]);
    const lines = Math.max(...parts.map((p) => p.length));
    const widest = Math.min(isNarrow() ? 170 : 240, 7 * Math.max(...parts.flat().map((p) => p.length)));
    const y = {field: 'run', type: 'nominal', sort: null, scale: {domain: [...names_.values()]}, title: null,
               axis: {domain: false, ticks: false, labelPadding: 8, labelColor: colour('text'), labelFontSize: isNarrow() ? 11 : 12, labelLimit: 240,
                      ...(isNarrow() ? {labelExpr: "split(datum.label, ', ')", labelBaseline: 'middle', labelOffset: -6 * (lines - 1)} : {})}};
    const offset = {field: 'order', type: 'nominal', sort: null, scale: {domain: names.map((_, i) => i)}};
    draw(element, {
      width: Math.max(120, widthOf(element) - 40 - widest),
      height: {step: Math.max(9, 22 / names.length, 14 * lines / names.length)},
      data: {values: rows},
      layer: [
        {mark: {type: 'bar', cornerRadiusEnd: 2, cursor: 'pointer'},
         encoding: {y, yOffset: offset,
                    x: {field: 'part', type: 'quantitative', stack: null, title: 'rate, as a fraction of the isolated rate',
                        axis: {tickCount: 6, format: '.1f'}},
                    color: {field: 'kernel', type: 'nominal', sort: names, legend: legendOf(names, widthOf(element)),
                            scale: {domain: names, range: names.map((_, i) => kernelColour(i))}},
                    tooltip: [{field: 'run'}, {field: 'kernel'}, {field: 'part', title: 'of isolated', format: '.3f'}]}},
        {transform: [{filter: 'datum.goal != null'}],
         mark: {type: 'tick', thickness: 2, color: colour('text')},
         encoding: {y, yOffset: offset, x: {field: 'goal', type: 'quantitative'},
                    tooltip: [{field: 'goal', title: 'goal', format: '.2f'}]}},
        {mark: {type: 'rule', strokeDash: [3, 3], color: colour('muted')}, encoding: {x: {datum: 1}}},
      ],
    }, (datum) => {
      const run = all.find((r) => r.id === datum.id);
      if (run) choose(run);
    });
  };
  return {element, update};
}
