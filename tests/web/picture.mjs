// A picture of a page, as docs/pictures has them: node picture.mjs CHROMIUM PAGE OUT.png [light|dark] [WIDTH] [HEIGHT]
import {writeFileSync} from 'node:fs';
import {resolve} from 'node:path';
import {Browser} from './browser.mjs';

const [chromium, page, out, theme = 'light', width = '1180', height = '1350'] = process.argv.slice(2);
const browser = new Browser(chromium);
await browser.open('file://' + resolve(page), {width: Number(width), height: Number(height), dark: theme === 'dark'});
writeFileSync(out, await browser.screenshot({x: 0, y: 0, width: Number(width), height: Number(height), scale: 1}));
await browser.close();
