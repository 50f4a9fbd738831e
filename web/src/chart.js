// A Vega-Lite specification drawn into an element, with the page's colours.
import {parse, View} from 'vega';
import {compile} from 'vega-lite';
import {chartConfig} from './theme.js';

const views = new Map();  // by element: what it shows

export function draw(element, spec, onClick) {
  views.get(element)?.finalize();
  element.replaceChildren();
  const compiled = compile({$schema: 'https://vega.github.io/schema/vega-lite/v6.json', ...spec, config: chartConfig()});
  const view = new View(parse(compiled.spec), {renderer: 'svg', container: element, hover: true});
  views.set(element, view);
  if (onClick) view.addEventListener('click', (event, item) => item?.datum && onClick(item.datum));
  return view.runAsync();
}

export const isNarrow = () => innerWidth < 640;

// A legend of these names with as many columns as fit into the width.
export function legendOf(names, width) {
  const widest = Math.max(0, ...names.map((name) => String(name).length));
  return {columns: Math.max(1, Math.min(names.length, Math.floor(width / (7 * widest + 30)))), labelLimit: width - 30};
}

export function widthOf(element, least = 240) {
  return Math.max(least, Math.floor(element.getBoundingClientRect().width || element.parentElement.clientWidth));
}
