// Colours come from style.css, for light and dark alike; charts ask here.
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

export const kKernelColours = 8;
export function kernelColour(index) {
  return colour('kernel-' + (index % kKernelColours));
}

// Settings that all charts share.
export function chartConfig() {
  const axis = {
    labelColor: colour('muted'), titleColor: colour('muted'), gridColor: colour('line'), domainColor: colour('line'),
    tickColor: colour('line'), labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal', labelLimit: 160,
  };
  return {
    background: null,
    font: getComputedStyle(document.body).fontFamily,
    view: {stroke: null},
    axis,
    header: {labelColor: colour('muted'), titleColor: colour('muted'), labelFontSize: 11},
    legend: {labelColor: colour('text'), titleColor: colour('muted'), labelFontSize: 12, orient: 'top', title: null,
             symbolType: 'square', offset: 8},
    title: {color: colour('text')},
  };
}

// Calls back when the system changes between light and dark, or the reader does.
export function onTheme(changed) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
}

export function toggleTheme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
}
