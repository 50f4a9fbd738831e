// A paper's figures: measured beside reported, and a verdict a claim.
import {draw, isNarrow, legendOf, widthOf} from './chart.js';
import {h, replace} from './dom.js';
import {fixed} from './format.js';
import {changed, choose, chosen, figures, nameOf, runById, runKeys} from './model.js';
import {colour, kernelColour} from './theme.js';

const kVerdicts = {reproduced: ['✓', 'reproduced', 'good'], direction: ['≈', 'same direction', 'fair'], no: ['✗', 'not reproduced', 'bad'], null: ['–', 'not run', 'fair']};

function badge(verdict) {
  const [sign, words, tone] = kVerdicts[verdict] ?? ['?', verdict, 'fair'];
  return h('span.badge.' + tone, {}, `${sign} ${words}`);
}

const distinct = (values) => [...new Set(values)];

// Where a plot has several measures and no axis for them, they become its series, or its facets where it has series. Without
// this, bars of different measures would be drawn as one.
function axesOf(figure) {
  const p = figure.plot;
  const several = distinct(figure.rows.map((r) => r.measure)).length > 1;
  if (!several || [p.x, p.series, p.facet].includes('measure')) return p;
  return p.series ? {...p, facet: p.facet ?? 'measure'} : {...p, series: 'measure'};
}

// A plot with more bars than a phone is wide grows downwards: its axes are exchanged.
function lyingDown(rows, layers, xs, bars, width) {
  const other = {x: 'y', y: 'x', xOffset: 'yOffset', y2: 'x2'};
  const exchanged = ({encoding, mark, ...layer}) => ({
    ...layer, mark: mark.shape === 'stroke' ? {...mark, angle: 90, size: 81} : mark,
    encoding: Object.fromEntries(Object.entries(encoding).map(([channel, value]) => [other[channel] ?? channel,
      channel === 'x' ? {...value, title: null, axis: {labelAngle: 0, labelLimit: 110}} : value]))});
  const widest = Math.min(110, 6.5 * Math.max(...xs.map((x) => String(x).length)));
  return {data: {values: rows}, width: width - 40 - widest, height: Math.max(bars * 9, xs.length * 14), layer: layers.map(exchanged)};
}

function specOf(figure, width) {
  const p = axesOf(figure);
  const facets = p.facet ? distinct(figure.rows.map((r) => r[p.facet]).filter((v) => v !== undefined)) : [];
  // A value that the paper reports for all facets is shown in each.
  const rows = figure.rows.map((r) => ({source: 'measured', ...r}))
    .flatMap((r) => (p.facet && r[p.facet] === undefined ? facets.map((f) => ({...r, [p.facet]: f})) : [r]));
  const series = p.series ? distinct(rows.map((r) => r[p.series])) : [];
  const both = distinct(rows.map((r) => r.source)).length > 1;
  const xs = distinct(rows.map((r) => r[p.x]));
  for (const r of rows) r.group_ = p.series ? series.indexOf(r[p.series]) : 0;
  const color = p.series ? {color: {field: p.series, type: 'nominal', sort: series, legend: legendOf(series, width),
                                    scale: {domain: series, range: series.map((_, i) => kernelColour(i))}}}
                         : {color: {value: kernelColour(0)}};
  const y = {field: p.y, type: 'quantitative', stack: null, title: p.y_title ?? p.y};
  const tooltip = [...[p.x, p.series, p.facet].filter(Boolean).map((field) => ({field})),
                   {field: p.y, title: p.y_title || p.y, format: '.3~f'}, {field: 'source'},
                   ...(figure.rows.some((r) => r.low !== undefined) ? ['low', 'high'].map((field) => ({field, title: `95% ${field}`, format: '.3~f'})) : [])];
  const numeric = p.kind !== 'bar' && rows.every((r) => typeof r[p.x] === 'number');
  // Hundreds of names would be drawn over each other; the tooltip of a point has its name.
  const isUnnamed = p.kind === 'point' && !numeric && xs.length > width / 6;
  const x = {field: p.x, type: numeric ? 'quantitative' : 'nominal', sort: xs, title: p.x_title ?? null,
             axis: {labels: !isUnnamed, ticks: !isUnnamed, labelAngle: numeric || xs.length <= (isNarrow() ? 3 : 6) ? 0 : -40}};
  const faded = both ? {opacity: {condition: {test: 'datum.source === "paper"', value: 0.35}, value: 1}} : {};
  const dashed = both ? {strokeDash: {field: 'source', type: 'nominal', legend: null,
                                      scale: {domain: ['measured', 'paper'], range: [[1, 0], [4, 3]]}}} : {};
  const xOffset = {field: 'group_', type: 'nominal', scale: {domain: p.series ? series.map((_, i) => i) : [0]}};
  // A plot with more bars than this scrolls sideways; on a wide page narrower bars are still told apart.
  const bars = xs.length * Math.max(1, p.kind === 'bar' ? series.length : 1);
  const least = numeric || isUnnamed ? 240 : bars * (width > 900 ? 5 : 7);
  const dash = Math.min(16, 1.6 * Math.max(width - 70, least) / bars);  // as wide as its bar, not as its neighbours
  const reported = !both || (p.kind && p.kind !== 'bar') ? [] : [{
    transform: [{filter: 'datum.source === "paper"'}],
    mark: {type: 'point', shape: 'stroke', strokeWidth: 2.5, opacity: 1, color: colour('text'), size: p.facet ? 260 : dash * dash},
    encoding: {x, y, xOffset, tooltip}}];
  // Intervals lie beside each other as the bars they belong to; the points of a line have no place of their own.
  const intervals = !rows.some((r) => r.low !== undefined) ? [] : [{
    transform: [{filter: 'isValid(datum.low)'}],
    mark: {type: 'rule', strokeWidth: 1.4, ...(p.kind === 'bar' || !p.series ? {color: colour('text')} : {})},
    encoding: {x, y: {field: 'low', type: 'quantitative', title: y.title}, y2: {field: 'high'},
               ...(p.kind === 'bar' ? {xOffset} : color), tooltip}}];
  const marks = {
    bar: {transform: [{filter: 'datum.source !== "paper"'}], mark: {type: 'bar'}, encoding: {x, y, ...color, tooltip, xOffset}},
    line: {mark: {type: 'line', point: {size: 24}}, encoding: {x, y, ...color, tooltip, ...dashed}},
    point: {mark: {type: 'circle', size: 60}, encoding: {x, y, ...color, tooltip, ...faded}},
  };
  const rule = p.rule === null || p.rule === undefined ? []
    : [{mark: {type: 'rule', strokeDash: [3, 3], color: colour('muted')}, encoding: {y: {datum: p.rule}}}];
  const layers = {layer: [marks[p.kind] ?? marks.bar, ...intervals, ...reported, ...rule]};
  if (!p.facet && !numeric && isNarrow() && least > width - 70) return lyingDown(rows, layers.layer, xs, bars, width);
  if (!p.facet) return {data: {values: rows}, width: Math.max(width - 70, least), height: 240, ...layers};
  const columns = width > 700 ? 3 : width > 460 ? 2 : 1;
  return {data: {values: rows}, columns, facet: {field: p.facet, type: 'nominal', title: null},
          ...(isUnnamed ? {resolve: {scale: {x: 'independent'}}} : {}),
          spec: {width: Math.max(120, width / columns - 70), height: 160, ...layers}};
}

// How to tell what was measured from what the paper reports, and what the vertical lines are.
function noteOf(figure) {
  const seeds = Math.max(0, ...(figure.rows ?? []).map((r) => r.seeds ?? 0));
  const paper = figure.rows?.some((r) => r.source === 'paper')
    ? {line: 'dashed: the paper', point: 'pale: the paper'}[figure.plot.kind] ?? 'a dash across: the paper' : null;
  const interval = seeds > 1 ? `means over ${seeds} seeds; vertical lines: 95% confidence intervals` : null;
  return [paper, interval].filter(Boolean).join(' · ') || null;
}

function claim(c) {
  const number = (v) => (v === null || v === undefined ? '–' : fixed(v, Math.abs(v) >= 100 ? 0 : 2) + (c.unit ?? ''));
  const behind = (c.runs ?? []).map((id) => runById.get(id)).filter(Boolean);
  return h('tr', {}, h('td', {}, c.text ?? c.id, c.detail ? h('div.note', {}, c.detail) : null,
             behind.length ? h('div.links', {}, behind.map((r) =>
               h('button.link', {type: 'button', onclick: () => { choose(r); document.getElementById('run').scrollIntoView(); }},
                 [r.workload, nameOf(r, runKeys)].join(' ')))) : null),
           h('td.number', {'data-name': 'paper'}, number(c.paper)), h('td.number', {'data-name': 'measured'}, number(c.measured) + (c.half_width ? ` ± ${number(c.half_width)}` : '')),
           h('td', {}, badge(c.verdict)));
}

// A figure may be there under two protocols.
const anchorOf = (figure) => (figures.filter((f) => f.id === figure.id).length > 1 ? `${figure.id}:${figure.protocol}` : figure.id);

// Links to the figures, by paper.
export function contents() {
  return distinct(figures.map((f) => f.paper)).map((paper) => h('li', {}, paper ?? 'figures',
    h('ul', {}, figures.filter((f) => f.paper === paper).map((f) =>
      h('li', {}, h('a', {href: '#' + anchorOf(f), title: f.title}, anchorOf(f).replace(`${paper}/`, '')))))));
}

function one(figure) {
  const chart = h('div.chart');
  const claims = (figure.claims ?? []).filter((c) => !chosen.verdict || c.verdict === chosen.verdict);
  const element = h('article.card.figure', {id: anchorOf(figure)},
    h('h3', {}, figure.title, h('a.anchor', {href: '#' + anchorOf(figure), 'aria-label': 'link to this figure'}, '#')), h('p.note', {}, [figure.paper, figure.id, figure.protocol, noteOf(figure)].filter(Boolean).join(' · ')),
    figure.about ? h('p', {}, figure.about) : null, h('div.scroll', {}, chart),
    claims.length ? h('div.scroll', {}, h('table.claims', {},
      h('thead', {}, h('tr', {}, ['claim', 'paper', 'measured', 'verdict'].map((t, i) => h(i === 1 || i === 2 ? 'th.number' : 'th', {scope: 'col'}, t)))),
      h('tbody', {}, claims.map(claim)))) : null);
  return {element, draw: () => figure.rows?.length && figure.plot && draw(chart, specOf(figure, widthOf(chart)))};
}

export function figureList() {
  const element = h('section.figures');
  const papers = distinct(figures.map((f) => f.paper).filter(Boolean));
  let drawnFor = null;
  const update = () => {
    // Charts are dear: they are drawn again when something that shows in them has changed.
    const now = [chosen.verdict, chosen.paper, innerWidth, colour('page')].join();
    if (now === drawnFor) return;
    drawnFor = now;
    const all = figures.flatMap((f) => f.claims ?? []);
    const passing = figures.filter((f) => (!chosen.paper || f.paper === chosen.paper) &&
      (!chosen.verdict || (f.claims ?? []).some((c) => c.verdict === chosen.verdict)));
    const choice = (key, value, text) => h('button.chip' + (chosen[key] === value ? '.on' : ''),
      {type: 'button', 'data-choice': value ?? 'all', onclick: () => { chosen[key] = chosen[key] === value ? null : value; changed(); }}, text);
    const drawn = passing.map(one);
    replace(element, h('h2', {id: 'figures'}, 'Figures'),
      h('div.chips', {}, Object.entries(kVerdicts).filter(([key]) => key !== 'null' && all.length).map(([key, [sign, words]]) =>
        choice('verdict', key, `${sign} ${words} ${all.filter((c) => c.verdict === key).length}`)),
        papers.length > 1 ? papers.map((p) => choice('paper', p, p)) : null),
      drawn.map((d) => d.element));
    drawn.forEach((d) => d.draw());
  };
  return {element, update};
}
