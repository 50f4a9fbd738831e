// Numbers as people read them.
export function fixed(value, digits = 2) {
  if (value === null || value === undefined) return '∞';  // JSON has no infinity
  return value.toLocaleString('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits});
}

export function short(value) {
  if (value === null || value === undefined) return '';
  for (const [size, unit] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
    if (Math.abs(value) >= size) return (value / size).toPrecision(3).replace(/\.0+$/, '') + ' ' + unit;
  return Number(value.toPrecision(3)).toString();
}

export function grouped(value) {
  return value.toLocaleString('en-US');
}

export function percent(value) {
  return value === null || value === undefined ? '–' : Math.round(value * 100) + '%';
}

// "1 run", "3 runs".
export function counted(count, noun) {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}
