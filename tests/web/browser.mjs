// A browser driven over its debugging pipe: no package beyond node and Chromium is needed.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

export class Browser {
  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), 'wm-browser-'));
    this.process = spawn(program, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
      '--remote-debugging-pipe', `--user-data-dir=${this.profile}`, 'about:blank'],
      {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    this.waiting = new Map();
    this.listeners = [];
    this.next = 1;
    let text = '';
    this.process.stdio[4].setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      const messages = text.split('\0');
      text = messages.pop();
      messages.forEach((m) => this.receive(JSON.parse(m)));
    });
  }

  receive(message) {
    if (!message.id) return this.listeners.forEach((l) => l(message.method, message.params));
    const {resolve, reject} = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) reject(new Error(message.error.message));
    else resolve(message.result);
  }

  send(method, params = {}) {
    const id = this.next++;
    this.process.stdio[3].write(JSON.stringify({id, method, params, sessionId: this.session}) + '\0');
    return new Promise((resolve, reject) => this.waiting.set(id, {resolve, reject}));
  }

  async close() {
    const ended = new Promise((resolve) => this.process.on('exit', resolve));
    this.send('Browser.close').catch(() => {});
    await ended;
    rmSync(this.profile, {recursive: true, force: true, maxRetries: 5});
  }

  // Opens the page; what it complains about is collected in `complaints`.
  async open(url, {width = 1200, height = 900, dark = false} = {}) {
    const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
    this.session = sessionId;
    this.complaints = [];
    this.requests = [];
    this.listeners = [(method, params) => {
      if (method === 'Runtime.exceptionThrown') this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
      if (method === 'Runtime.consoleAPICalled' && ['error', 'warning'].includes(params.type))
        this.complaints.push(params.args.map((a) => a.value ?? a.description).join(' '));
      if (method === 'Log.entryAdded' && params.entry.level === 'error') this.complaints.push(params.entry.text);
      if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    }];
    await this.send('Runtime.enable');
    await this.send('Log.enable');
    await this.send('Network.enable');
    await this.send('Page.enable');
    await this.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: width < 600});
    await this.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'}]});
    await this.send('Page.navigate', {url});
    await this.until('document.documentElement?.dataset.ready === "true"');
  }

  async value(expression) {
    const {result, exceptionDetails} = await this.send('Runtime.evaluate', {expression, returnByValue: true, awaitPromise: true});
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async until(expression, seconds = 20) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; await new Promise((r) => setTimeout(r, 50)))
      if (await this.value(expression)) return;
    throw new Error(`never came true: ${expression}`);
  }

  // A click of the mouse in the middle of an element, as a person's.
  async click(selector) {
    const spot = await this.value(`(() => {
      const e = document.querySelector(${JSON.stringify(selector)});
      e.scrollIntoView({block: 'center'});
      const r = e.getBoundingClientRect();
      return {x: r.x + r.width / 2, y: r.y + r.height / 2};
    })()`);
    for (const type of ['mousePressed', 'mouseReleased'])
      await this.send('Input.dispatchMouseEvent', {type, ...spot, button: 'left', clickCount: 1});
  }

  async screenshot(clip) {
    const {data} = await this.send('Page.captureScreenshot', {format: 'png', captureBeyondViewport: true, clip});
    return Buffer.from(data, 'base64');
  }
}
