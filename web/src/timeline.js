// SMs × time of one run: how much of each SM every kernel holds, stacked, over the run; dark where an SM is off.
import {h, replace} from './dom.js';
import {grouped, percent} from './format.js';
import {colour, kernelColour} from './theme.js';

export const kLeft = 46;  // left margin of the plot, shared with the curves below it
const kAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const kValue = Object.fromEntries([...kAlphabet].map((c, i) => [c, i / 63]));
const at = (text, bin) => kValue[text[bin]] ?? 0;

function rowHeight(sms) {
  return sms <= 16 ? 20 : sms <= 32 ? 14 : sms <= 64 ? 9 : 5;
}

function paint(canvas, run) {
  const t = run.timeline;
  const row = rowHeight(t.sms);
  const gap = row > 8 ? 3 : 1;
  const width = canvas.parentElement.clientWidth;
  const height = t.sms * row;
  const scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = height + 'px';
  const c = canvas.getContext('2d');
  c.scale(scale, scale);
  c.clearRect(0, 0, width, height);
  const plot = width - kLeft;
  const colours = run.kernels.map((_, k) => kernelColour(k));
  const x = (bin) => kLeft + plot * Math.min(1, bin * t.bin / t.cycles);
  c.font = '11px ' + getComputedStyle(document.body).fontFamily;
  c.textBaseline = 'middle';
  for (let sm = 0; sm < t.sms; ++sm) {
    const top = sm * row;
    const room = row - gap;
    c.fillStyle = colour('track');
    c.fillRect(kLeft, top, plot, room);
    for (let bin = 0; bin < t.bins; ++bin) {
      const left = x(bin);
      const wide = x(bin + 1) - left + 0.6;
      const off = at(t.off[sm], bin);
      if (off > 0.5) {
        c.fillStyle = colour('off');
        c.fillRect(left, top, wide, room);
        continue;
      }
      let bottom = top + room;
      t.held.forEach((texts, k) => {
        const tall = at(texts[sm], bin) * room;
        if (tall <= 0) return;
        c.fillStyle = colours[k];
        c.fillRect(left, bottom - tall, wide, tall);
        bottom -= tall;
      });
    }
    if (row >= 14 || sm % Math.ceil(14 / row) === 0) {
      c.fillStyle = colour('muted');
      c.textAlign = 'right';
      c.fillText('SM ' + sm, kLeft - 8, top + room / 2);
    }
  }
}

// The text for the position of the pointer.
function tell(run, canvas, event) {
  const t = run.timeline;
  const box = canvas.getBoundingClientRect();
  const part = (event.clientX - box.left - kLeft) / (box.width - kLeft);
  const sm = Math.floor((event.clientY - box.top) / rowHeight(t.sms));
  if (part < 0 || part > 1 || sm < 0 || sm >= t.sms) return null;
  const cycle = part * t.cycles;
  const bin = Math.min(t.bins - 1, Math.floor(cycle / t.bin));
  const off = at(t.off[sm], bin) > 0.5;
  return [`SM ${sm}, cycle ${grouped(Math.round(cycle))}: `,
          off ? 'switched off' : run.kernels.map((k, i) => `${k.name} ${percent(at(t.held[i][sm], bin))}`).join(', ')];
}

export function timeline() {
  const canvas = h('canvas', {role: 'img', 'aria-label': 'SMs over time, coloured by kernel'});
  const words = h('p.under', {}, ' ');
  const element = h('div.timeline', {}, h('div.frame', {}, canvas), words);
  let shown = null;
  const rest = 'Height: how much of an SM a kernel holds, by what it needs most of it.';
  canvas.addEventListener('pointermove', (event) => {
    if (shown) replace(words, ...(tell(shown, canvas, event) ?? [rest]));
  });
  canvas.addEventListener('pointerleave', () => replace(words, rest));
  const update = (run) => {
    shown = run;
    replace(words, rest);
    paint(canvas, run);
  };
  return {element, update};
}
