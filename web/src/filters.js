// The bar of choices above everything: which policies, which workload, and whatever the runs can be told apart by.
import {h, replace} from './dom.js';
import {changed, chosen, filterKeys, filterValues, labelOf, labels, passing, workloadOf, workloads} from './model.js';

function picker(title, values, value, onPick, all) {
  const select = h('select', {'aria-label': title, onchange: (e) => onPick(e.target.value)},
                   all ? h('option', {value: '', selected: !value}, all) : null,
                   values.map((v) => h('option', {value: v, selected: v === value}, v)));
  return h('label.picker', {}, h('span', {}, title), select);
}

function chip(label) {
  const on = !chosen.hidden.has(label);
  const toggle = () => {
    if (on) chosen.hidden.add(label);
    else chosen.hidden.delete(label);
    changed();
  };
  return h('button.chip' + (on ? '.on' : ''), {type: 'button', 'aria-pressed': String(on), 'data-policy': label, onclick: toggle},
           label);
}

export function filters() {
  const element = h('section.filters', {'aria-label': 'filters'});
  const update = () => replace(element,
    workloads.length > 1
      ? picker('workload', workloads.filter((w) => passing().some((r) => workloadOf(r) === w)), chosen.workload,
               (v) => { chosen.workload = v; changed(); }) : null,
    filterKeys.filter((key) => filterValues(key).length > 1).map((key) =>
      picker(key, filterValues(key), chosen.filters[key], (v) => { chosen.filters[key] = v; changed(); }, 'all')),
    labels.length > 1
      ? h('div.chips', {role: 'group', 'aria-label': 'policies'},
          labels.filter((l) => passing().some((r) => labelOf(r) === l)).map(chip)) : null);
  return {element, update};
}
