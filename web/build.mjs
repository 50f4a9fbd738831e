// Bundles src/ and what it imports into one HTML file without references to anywhere: node build.mjs OUT
import {readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'page.html');

const bundle = await build({
  entryPoints: [join(here, 'src/main.js')],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2020',
  legalComments: 'none',
  write: false,
});
const style = await build({entryPoints: [join(here, 'src/style.css')], bundle: true, minify: true, write: false});

// A closing tag inside a script would end it.
const script = bundle.outputFiles[0].text.replaceAll('</script', '<\\/script');
const page = readFileSync(join(here, 'src/page.html'), 'utf8')
  .replace('/*STYLE*/', () => style.outputFiles[0].text)
  .replace('/*SCRIPT*/', () => script);
writeFileSync(out, page);
