// Rates of their rate alone, a bar a kernel, a group a policy; goals as ticks. A click looks into the run.
import {draw, widthOf} from './chart.js';
import {h} from './dom.js';
import {choose, labelOf, runs as all, shownHere} from './model.js';
import {colour, kernelColour} from './theme.js';

export function bars() {
  const element = h('div.chart', {role: 'img', 'aria-label': 'rates beside the others, of the rates alone'});
  const update = () => {
    const runs = shownHere();
    const rows = runs.flatMap((run) => run.kernels.map((k, i) => ({
      id: run.id, policy: labelOf(run), kernel: `${k.name}`, order: i, part: k.normalized,
      goal: k.goal && k.ipc_alone ? k.goal / k.ipc_alone : null,
    })));
    if (!rows.length) return element.replaceChildren();
    const names = runs[0].kernels.map((k) => k.name);
    const y = {field: 'policy', type: 'nominal', sort: null, scale: {domain: runs.map(labelOf)}, title: null,
               axis: {domain: false, ticks: false, labelPadding: 8, labelColor: colour('text'), labelFontSize: 12}};
    const offset = {field: 'order', type: 'nominal', sort: null, scale: {domain: names.map((_, i) => i)}};
    draw(element, {
      width: widthOf(element) - 130,
      height: {step: Math.max(9, 22 / names.length)},
      data: {values: rows},
      layer: [
        {mark: {type: 'bar', cornerRadiusEnd: 2, cursor: 'pointer'},
         encoding: {y, yOffset: offset,
                    x: {field: 'part', type: 'quantitative', title: 'rate, of its rate alone', axis: {tickCount: 6, format: '.1f'}},
                    color: {field: 'kernel', type: 'nominal', sort: names,
                            scale: {domain: names, range: names.map((_, i) => kernelColour(i))}},
                    tooltip: [{field: 'policy'}, {field: 'kernel'}, {field: 'part', title: 'of alone', format: '.3f'}]}},
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
