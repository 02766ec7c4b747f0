import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { until } from '../../support/wait.js';

export const PHONE = { width: 390, height: 844 } as const;
export const DESKTOP = { width: 1280, height: 800 } as const;

/** Chromium asks nothing of anyone outside. */
const BROWSER_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const PASSWORD = 'kue lapis legit';
const ROOT = join(import.meta.dirname, '..', '..', '..');
const SCREENSHOTS = join(ROOT, '.screenshots');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const serviceUrl = setting('TEST_SERVICE_URL');
export const storefrontUrl = setting('TEST_STOREFRONT_URL');

interface Size {
  readonly width: number;
  readonly height: number;
}

/** A person with a browser of their own, and what went wrong on the pages. */
export interface Shopper {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Uncaught errors, and what the content security policy refused. */
  readonly problems: readonly string[];
  /** Opens a further tab. */
  readonly tab: () => Promise<Page>;
}

let browser: Browser;
const contexts: BrowserContext[] = [];

// Each file of tests that imports this has a browser; what a test opened is closed after it.
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: setting('BROWSER'), args: BROWSER_ARGS });
});
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});
afterAll(() => browser.close());

export async function shopperOf(viewport: Size = DESKTOP): Promise<Shopper> {
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce', baseURL: storefrontUrl });
  contexts.push(context);
  context.setDefaultTimeout(15_000);
  const problems: string[] = [];
  context.on('weberror', (error) => problems.push(error.error().message));
  context.on('console', (message) => {
    // The browser reports every refused call as an error; those are part of the interface.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(message.text());
  });
  const page = await context.newPage();
  return { context, page, problems, tab: () => context.newPage() };
}

/** Registers a new person through the storefront and skips verification. */
export async function register(page: Page, fullname = 'Ayu Lestari'): Promise<string> {
  const email = newEmail();
  await page.goto('/register');
  await page.getByLabel('Your name').fill(fullname);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Repeat password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('link', { name: 'Do it later' }).click();
  await heading(page, 'Baked before sunrise');
  return email;
}

export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await heading(page, 'Baked before sunrise');
}

export async function signInAsAdmin(page: Page): Promise<void> {
  const { email, password } = JSON.parse(setting('TEST_ADMIN')) as { email: string; password: string };
  await signIn(page, email, password);
}

/** Takes an order to its next step as an administrator, besides the browser. */
export function takeStep(orderId: string, fulfilment: string): Promise<Response> {
  return asAdmin('PUT', `/api/admin/orders/${orderId}/fulfilment`, JSON.stringify({ fulfilment }));
}

/** A call of the service by the administrator, besides the browser, with a form or JSON. */
export async function asAdmin(method: string, path: string, body?: FormData | string): Promise<Response> {
  const login = await fetch(`${serviceUrl}/api/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: setting('TEST_ADMIN'),
  });
  const cookie = login.headers.getSetCookie().map((header) => header.split(';', 1)[0]);
  const headers = new Headers({ cookie: cookie.join('; ') });
  if (typeof body === 'string') headers.set('Content-Type', 'application/json');
  return fetch(serviceUrl + path, { method, headers, ...(body !== undefined && { body }) });
}

let people = 0;

export function newEmail(): string {
  people += 1;
  return `shopper-${process.pid}-${people}-${Date.now()}@example.com`;
}

/** The code that was last mailed to an address. */
export async function mailedCode(email: string): Promise<string> {
  const folder = setting('TEST_OUTBOX');
  return until(`a mail to ${email}`, async () => {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.sort().reverse()) {
      const mail = name.endsWith('.eml') ? await readFile(join(folder, name), 'utf8') : '';
      if (!mail.includes(email)) continue;
      // Lines are folded by quoted-printable (RFC 2045, 6.7).
      return /\bis (\d{6})\b/.exec(mail.replaceAll(/=\r?\n/g, '').replaceAll(/\s+/g, ' '))?.[1] ?? null;
    }
    return null;
  });
}

/** Waits for a page's heading. */
export async function heading(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}

/** Waits until a text is shown. */
export async function sees(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor();
}

/** Looks for a text in the list of a page. */
export async function search(page: Page, text: string): Promise<void> {
  await page.getByRole('searchbox').fill(text);
  await page.getByRole('search').getByRole('button', { name: 'Search' }).click();
}

/** How many pixels of a page lie beside it, at the present width. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Serious and critical violations of WCAG 2.2 AA that axe-core finds, as sentences. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(where: Document, how: object): Promise<AxeResult> } }).axe.run(
      document,
      { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
    ),
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ''}`));
}

/** For people to look at, in a folder that git ignores. Only when SCREENSHOTS is set: pictures take time. */
export async function photograph(page: Page, name: string, isFull = false): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return;
  await mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: isFull });
}

/** For the README. SCREENSHOTS=keep changes those of the repository. */
export async function portrait(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return;
  await picturesLoaded(page);
  await page.locator('.toast').waitFor({ state: 'detached' });
  const folder = process.env.SCREENSHOTS === 'keep' ? join(ROOT, 'docs', 'screenshots') : SCREENSHOTS;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.jpg`), type: 'jpeg', quality: 85 });
}

/** Waits until every picture within the window is shown. */
export async function picturesLoaded(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    [...document.images]
      .filter((image) => image.getBoundingClientRect().top < window.innerHeight)
      .every((image) => image.complete && image.naturalWidth > 0),
  );
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: start these tests with npm run test:browser`);
  return value;
}
