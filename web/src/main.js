// The page: its layout, and the parts that are updated when the reader selects something.
import {bars} from './bars.js';
import {curves} from './curves.js';
import {h, replace} from './dom.js';
import {contents, figureList} from './figures.js';
import {filters} from './filters.js';
import {counted, grouped} from './format.js';
import {matrix} from './matrix.js';
import {current, document_, figures, nameOf, onChange, changed, runs, shownHere, varying, workloadOf, workloads} from './model.js';
import {policyTable} from './table.js';
import {onTheme, toggleTheme} from './theme.js';
import {timeline} from './timeline.js';

function header() {
  const gpus = [...new Set(runs.map((r) => r.gpu))].join(', ');
  return h('header', {},
    h('div.line', {}, h('h1', {}, document_.title),
      h('button.icon', {type: 'button', title: 'light or dark', 'aria-label': 'light or dark',
                        onclick: () => { toggleTheme(); changed(); }}, '◐')),
    document_.about ? h('p.about', {}, document_.about) : null,
    h('p.note', {}, [gpus && `on ${gpus}`, counted(runs.length, 'run'), figures.length && counted(figures.length, 'figure')]
      .filter(Boolean).join(' · ')),
    document_.command ? h('pre.command', {}, document_.command) : null);
}

function navigation() {
  const parts = [workloads.length > 1 && ['matrix', 'Policies × workloads'], ['policies', 'One workload'], ['run', 'One run'], ['bars', 'Rates']]
    .filter(Boolean).map(([id, title]) => h('li', {}, h('a', {href: '#' + id}, title)));
  return h('nav.card.contents', {'aria-label': 'contents'}, h('h2', {}, 'Contents'), h('ul', {}, contents()),
    runs.length ? h('ul.parts', {}, parts) : null);
}

// The run that is shown in detail.
function lookInto() {
  const strips = timeline();
  const lines = curves();
  const title = h('h2');
  const legend = h('div.legend');
  const body = h('div', {}, strips.element, lines.element);
  const none = h('p.empty', {}, 'This run was made without a timeline.');
  const element = h('section.card', {id: 'run'}, h('div.line', {}, title, legend), body, none);
  const update = () => {
    const run = current();
    element.hidden = !run;
    if (!run) return;
    replace(title, `${workloadOf(run)} under ${nameOf(run, varying(shownHere()))}`);
    replace(legend, run.kernels.map((k, i) => h('span', {}, h('i.dot', {style: `background:var(--kernel-${i % 8})`}), k.name)),
            run.timeline?.off?.some((t) => /[^A]/.test(t)) ? h('span', {}, h('i.dot.off'), 'switched off') : null,
            h('span.note', {}, `${grouped(run.cycles)} cycles`));
    body.hidden = !run.timeline;
    none.hidden = Boolean(run.timeline);
    if (!run.timeline) return;
    strips.update(run);
    lines.update(run);
  };
  return {element, update};
}

const page = document.getElementById('page');
document.title = document_.title;
const parts = [];
const add = (part) => (parts.push(part), part.element);
replace(page, header());
if (figures.length) page.append(navigation(), add(figureList()));
if (runs.length) {
  if (figures.length) page.append(h('h2.part', {}, 'The runs of these figures'));
  page.append(add(filters()));
  if (workloads.length > 1) page.append(h('section.card', {id: 'matrix'}, h('h2', {}, 'Policies × workloads'),
    h('p.note', {}, 'Every cell is one run; ✗ marks a missed goal. Select a cell to see its run.'), add(matrix())));
  const one = workloads.length > 1 ? 'One workload' : runs.length > 1 ? 'Policies side by side' : 'The run';
  page.append(h('section.card', {id: 'policies'}, h('h2', {}, one),
    h('p.note', {}, 'Bars: the rate of a kernel in the co-run, as a fraction of its isolated rate; the mark is its goal.' +
      (runs.length > 1 ? ' Select a row to see its run.' : '')),
    add(policyTable())));
  page.append(add(lookInto()));
  page.append(h('section.card', {id: 'bars'}, h('h2', {}, 'Rates of each kernel'), add(bars())));
}
page.append(h('footer', {}, 'made by warpmux; everything in this page is in this file'));

const update = () => parts.forEach((p) => p.update());
onChange(update);
onTheme(update);
let width = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === width) return;  // phones resize when their bars hide
  width = innerWidth;
  update();
});
update();
document.documentElement.dataset.ready = 'true';
