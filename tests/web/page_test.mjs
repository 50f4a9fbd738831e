// The page in a real browser: node page_test.mjs CHROMIUM WM FOLDER. Opens what `wm compare --html` wrote and a document with
// figures, clicks, filters, and wants no complaint and no request beyond the file itself.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Browser} from './browser.mjs';

const [chromium, wm, folder] = process.argv.slice(2);
mkdirSync(folder, {recursive: true});
const comparison = join(folder, 'comparison.html');
execFileSync(wm, ['compare', '--kernel', 'lbm:goal=0.5', '--kernel', 'mri-q', '--size', 'small', '--cycles', '4000', '--cache', '',
                  '--policy', 'even', '--policy', 'spatial', '--policy', 'smk', '--html', comparison]);

// The same page with another document: two workloads and figures, as the lab's reports have them.
const html = readFileSync(comparison, 'utf8');
const [before, rest] = html.split('<script type="application/json" id="document">');
const end = rest.indexOf('</script>');
const runs = JSON.parse(rest.slice(0, end)).runs;
const rows = ['50%', '80%'].flatMap((goal) => ['even', 'smk'].flatMap((policy, i) =>
  ['measured', 'paper'].map((source, j) => ({goal, policy, reach: 0.4 + 0.2 * i + 0.05 * j, source}))));
const figure = (id, verdict, kind, run) => ({
  id, paper: id.split('/')[0], title: `Figure ${id}`, about: 'What it shows.', protocol: 'quick',
  plot: {kind, x: 'goal', y: 'reach', series: 'policy', x_title: 'goal', y_title: 'reached', rule: 0.5}, rows,
  claims: [{id: 'a', text: `A claim that is ${verdict}`, paper: 0.9, measured: 0.88, verdict, runs: [run.id]}],
});
const report = {
  schema: 1, title: 'A report', runs: [...runs.map((r) => ({...r, filters: {goal: '50%'}})),
    ...runs.map((r) => ({...r, id: 'b' + r.id, workload: 'another pair', filters: {goal: '80%'}}))],
  figures: [figure('one/fig1', 'reproduced', 'bar', runs[0]), figure('two/fig2', 'no', 'line', runs[1]),
            figure('two/fig3', 'direction', 'point', runs[2])],
};
const reportFile = join(folder, 'report.html');
writeFileSync(reportFile, before + '<script type="application/json" id="document">' +
  JSON.stringify(report).replaceAll('<', '\\u003c') + rest.slice(end));

// A workload under two goals, and a policy with a swept parameter: what varies must be visible everywhere.
const sweep = {
  schema: 1, title: 'A sweep', figures: [], runs: [
    ...['0.5', '0.8'].flatMap((goal) => runs.map((r) => ({...r, id: r.id + goal, filters: {goal}}))),
    ...['5000', '20000'].map((epoch) => ({...runs[0], id: 'e' + epoch, label: 'quota', filters: {goal: '0.8', epoch}})),
    ...runs.map((r) => ({...r, id: 'w' + r.id, workload: 'another pair', filters: {goal: '0.5'}}))],
};
sweep.figures = [{...figure('one/fig1', 'no', 'bar', sweep.runs[0]), plot: {kind: 'bar', x: 'goal', y: 'reach', series: 'policy', facet: 'gpu'},
  rows: rows.flatMap((r) => (r.source === 'paper' ? [r] : ['g1', 'g2'].map((gpu) => ({...r, gpu}))))}];
// Means over three seeds: a vertical line for each, in bars, lines and points.
const seeded = {...report, figures: ['bar', 'line', 'point'].map((kind) => {
  const f = figure(`one/${kind}`, 'reproduced', kind, runs[0]);
  return {...f, rows: f.rows.map((r) => (r.source === 'paper' ? r : {...r, low: r.reach - 0.1, high: r.reach + 0.1, seeds: 3})),
          claims: f.claims.map((c) => ({...c, half_width: 0.02}))};
})};
const seededFile = join(folder, 'seeded.html');
writeFileSync(seededFile, before + '<script type="application/json" id="document">' +
  JSON.stringify(seeded).replaceAll('<', '\\u003c') + rest.slice(end));
const sweepFile = join(folder, 'sweep.html');
writeFileSync(sweepFile, before + '<script type="application/json" id="document">' +
  JSON.stringify(sweep).replaceAll('<', '\\u003c') + rest.slice(end));

// One run, as `wm sim --html` writes it.
const singleFile = join(folder, 'single.html');
writeFileSync(singleFile, before + '<script type="application/json" id="document">' +
  JSON.stringify({schema: 1, title: 'A run', runs: [runs[0]]}).replaceAll('<', '\\u003c') + rest.slice(end));

// What a phone has no room for: formulas without spaces, long names, many bars, many series, hundreds of points.
const long = 'a-kernel-with-a-long-name/and-its-part@1ms';
const many = (xs, policies) => xs.flatMap((goal) => policies.map((policy, i) => ({goal, policy, reach: 0.1 * i, source: 'measured'})));
const counted = (n, word) => Array.from({length: n}, (_, i) => `${word}${i}`);
const narrow = {...report, command: 'wm lab report --store ' + '/a/long/path'.repeat(12),
  runs: report.runs.map((r) => ({...r, workload: `${long}_${long}_${r.workload}`, power: {watts: null}, filters: {goal: '50%', figure: long}})),
  figures: [['bars', 'bar', counted(40, 'workload'), counted(6, 'policy-')], ['names', 'bar', ['a', 'b'], counted(9, long)],
            ['points', 'point', counted(300, 'w'), ['even', 'smk']]].map(([id, kind, xs, policies]) => {
    const f = figure(`one/${id}`, 'no', kind, runs[0]);
    return {...f, rows: many(xs, policies), claims: f.claims.map((c) => ({...c, detail: 'gain(' + 'ipc,policy=Even,'.repeat(20) + ')', text: long.repeat(4)}))};
  })};
const narrowFile = join(folder, 'narrow.html');
writeFileSync(narrowFile, before + '<script type="application/json" id="document">' +
  JSON.stringify(narrow).replaceAll('<', '\\u003c') + rest.slice(end));

const tests = {
  async 'runs that differ in a goal or a parameter are shown apart'(b) {
    await b.open('file://' + sweepFile);
    assert.equal(await b.value('document.querySelectorAll("table.policies tbody tr").length'), 8);
    const heads = await b.value('[...document.querySelectorAll("table.policies thead th")].map((t) => t.textContent)');
    assert.deepEqual(heads.slice(0, 3), ['policy', 'goal', 'epoch']);
    // One bar per run and kernel; none longer than the largest rate, as it would be if runs were added up.
    const kernels = runs[0].kernels.length;
    assert.equal(await b.value('document.querySelectorAll("#bars .mark-rect path[aria-roledescription=bar]").length'), 8 * kernels);
    const names = await b.value('[...document.querySelectorAll("#bars .role-axis-label text")].map((t) => t.textContent)');
    assert.ok(names.includes('quota, goal 0.8, epoch 5000'), names.join());
    const box = (selector) => b.value(`(() => { const r = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
                                                return {top: r.top, bottom: r.bottom}; })()`);
    const lowest = await b.value('Math.max(...[...document.querySelectorAll("#bars .mark-rect path")].map((p) => p.getBoundingClientRect().bottom))');
    const axis = await b.value(`[...document.querySelectorAll('#bars .role-axis-title text')].find((t) => t.textContent.startsWith('rate')).getBoundingClientRect().top`);
    assert.ok(axis >= lowest - 1, `the axis is below the bars: ${axis} ${lowest}`);
    
  },
  async 'the matrix has a row for every workload and value of what varies'(b) {
    await b.open('file://' + sweepFile);
    assert.equal(await b.value('document.querySelectorAll("table.matrix td.cell").length'), sweep.runs.length);
    const heads = await b.value('[...document.querySelectorAll("table.matrix thead th")].map((t) => t.textContent)');
    assert.deepEqual(heads.slice(0, 3), ['workload', 'goal', 'epoch']);
  },
  async 'a value reported for all facets is shown in each'(b) {
    await b.open('file://' + sweepFile);
    const facets = await b.value('[...document.querySelectorAll(".figure .role-column-header, .figure .role-title text")].map((t) => t.textContent).filter(Boolean)');
    assert.ok(!facets.some((t) => /null|undefined/.test(t)), facets.join());
  },
  async 'confidence intervals are lines of their length at the values they belong to'(b) {
    await b.open('file://' + seededFile);
    for (const kind of ['bar', 'line', 'point']) {
      const lines = await b.value(`[...document.getElementById('one/${kind}').querySelectorAll('.mark-rule.role-mark line')]
        .map((l) => l.getBoundingClientRect()).filter((r) => r.height > 2).map((r) => [Math.round(r.x), r.height])`);
      assert.equal(lines.length, 4, kind);
      // Bars stand beside each other; points of a line share their x.
      assert.equal(new Set(lines.map(([x]) => x)).size, kind === 'bar' ? 4 : 2, kind);
      assert.ok(Math.max(...lines.map(([, h]) => h)) - Math.min(...lines.map(([, h]) => h)) < 2, 'equal intervals are equally long');
    }
    const note = await b.value(`document.getElementById('one/bar').querySelector('.note').textContent`);
    assert.match(note, /means over 3 seeds; vertical lines: 95% confidence intervals/);
    assert.match(await b.value(`document.querySelector('[data-name=measured]').textContent`), /0\.88 ± 0\.02/);
  },
  async 'contents link to every figure, and every header has a scope'(b) {
    await b.open('file://' + reportFile);
    const targets = await b.value('[...document.querySelectorAll("nav.contents a")].map((a) => decodeURIComponent(a.hash.slice(1)))');
    assert.ok(targets.includes('two/fig2'));
    assert.deepEqual(await b.value(`${JSON.stringify(targets)}.filter((t) => !document.getElementById(t))`), []);
    assert.equal(await b.value('document.querySelectorAll("th:not([scope])").length'), 0);
  },

  async 'a single run is not compared with others'(b) {
    await b.open('file://' + comparison);
    assert.ok(await b.value('document.querySelectorAll(".best").length') > 0);
    await b.open('file://' + singleFile);
    assert.equal(await b.value('document.querySelectorAll("table.policies tbody tr").length'), 1);
    assert.equal(await b.value('document.querySelectorAll(".best").length'), 0);
    assert.equal(await b.value('document.querySelector("#policies h2").textContent'), 'The run');
  },
  async 'a row is chosen by a click, and its timeline is drawn'(b) {
    await b.open('file://' + comparison);
    assert.equal(await b.value('document.querySelectorAll("table.policies tbody tr").length'), 3);
    const last = await b.value('[...document.querySelectorAll("table.policies tbody tr")].at(-1).dataset.run');
    const painted = () => b.value('document.querySelector("#run canvas").toDataURL()');
    const first = await painted();
    await b.click('table.policies tbody tr:last-child');
    await b.until(`document.querySelector('tr.selected').dataset.run === ${JSON.stringify(last)}`);
    assert.notEqual(await painted(), first, 'the timeline is the chosen run’s');
    assert.ok(await b.value('document.querySelectorAll("#run .chart svg path").length') > 2, 'curves are drawn');
  },
  async 'a filter takes a policy out and brings it back'(b) {
    await b.open('file://' + comparison);
    await b.click('.filters [data-policy=even]');
    await b.until('document.querySelectorAll("table.policies tbody tr").length === 2');
    assert.equal(await b.value('document.querySelector("#bars svg").textContent.includes("even")'), false);
    await b.click('.filters [data-policy=even]');
    await b.until('document.querySelectorAll("table.policies tbody tr").length === 3');
  },
  async 'another curve is drawn where it is asked for'(b) {
    await b.open('file://' + comparison);
    assert.equal(await b.value('document.querySelector("[role=tab][aria-selected=true]").dataset.curve'), 'ipc');
    await b.click('[data-curve=watts]');
    await b.until('document.querySelector("[role=tab][aria-selected=true]").dataset.curve === "watts"');
    assert.match(await b.value('document.querySelector("#run .curves .note").textContent'), /W/);
  },
  async 'a report has a matrix, figures and verdicts that can be filtered'(b) {
    await b.open('file://' + reportFile);
    assert.equal(await b.value('document.querySelectorAll("table.matrix td.cell").length'), 6);
    await b.click('table.matrix tbody tr:last-child td.cell');
    await b.until('document.querySelector("#run h2").textContent.startsWith("another pair")');
    assert.equal(await b.value('document.querySelectorAll(".figure .chart svg").length'), 3);
    await b.click('[data-choice=no]');
    await b.until('document.querySelectorAll(".figure").length === 1');
    assert.match(await b.value('document.querySelector(".figure h3").textContent'), /two\/fig2/);
    await b.click('.figure button.link');
    await b.until(`document.querySelector('#run h2').textContent.includes(${JSON.stringify(runs[1].label)})`);
    await b.value(`(() => { const s = document.querySelector('select[aria-label=goal]'); s.value = '80%';
                            s.dispatchEvent(new Event('change')); })()`);
    await b.until('document.querySelectorAll("table.matrix tbody tr").length === 1');
  },
  async 'dark and light differ, and a phone needs no sideways scroll of the page'(b) {
    await b.open('file://' + comparison, {dark: true});
    const dark = await b.value('getComputedStyle(document.body).backgroundColor');
    await b.click('button.icon');
    assert.notEqual(await b.value('getComputedStyle(document.body).backgroundColor'), dark);
    await b.open('file://' + reportFile, {width: 390, height: 800});
    assert.ok(await b.value('document.documentElement.scrollWidth') <= 390);
  },
  async 'nothing is wider than a phone but the matrix, which scrolls by itself'(b) {
    await b.open('file://' + narrowFile, {width: 390, height: 800});
    assert.equal(await b.value('document.documentElement.scrollWidth'), 390);
    const wide = await b.value(`[...document.querySelectorAll('body *')].filter((e) => !e.closest('.tall') &&
      (e.getBoundingClientRect().right > 390 || (e.scrollWidth > e.clientWidth + 1 && ['auto', 'hidden'].includes(getComputedStyle(e).overflowX))))
      .map((e) => [e.closest('article, section')?.id, e.tagName, e.textContent.slice(0, 40)].join(' '))`);
    assert.deepEqual(wide, []);
    // The names of hundreds of points would cover each other; power that was not measured is no infinite power.
    assert.equal(await b.value(`[...document.getElementById('one/points').querySelectorAll('text')].some((t) => t.textContent === 'w7')`), false);
    assert.equal(await b.value(`document.querySelector('table.policies').textContent.includes('∞')`), false);
  },
};

const browser = new Browser(chromium);
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test(browser);
    assert.deepEqual(browser.complaints, [], 'the page complained');
    assert.deepEqual(browser.requests.filter((r) => !r.startsWith('file:') && !r.startsWith('data:')), [], 'it asked the network');
    console.log('ok      ' + name);
  } catch (error) {
    ++failed;
    console.log('FAILED  ' + name + '\n' + error.stack);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
