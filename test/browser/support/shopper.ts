import { randomUUID } from 'node:crypto';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { openPage } from './page.js';
import { LIKE_BROWSER } from './requests.js';
import { admin, serviceUrl, storefrontUrl } from './settings.js';

export const PHONE = { width: 390, height: 844 } as const;
const DESKTOP = { width: 1280, height: 800 } as const;
export const PASSWORD = 'kue lapis legit';

/** Browser session of one person, and its page. */
export interface BrowserSession {
  readonly context: BrowserContext;
  readonly page: Page;
}

export interface Customer extends BrowserSession {
  readonly name: string;
  readonly email: string;
}

type SessionOptions = Pick<BrowserContextOptions, 'viewport' | 'baseURL' | 'locale' | 'timezoneId'>;

const contexts: BrowserContext[] = [];
/** Uncaught errors, and errors in the console, such as violations of the content security policy. */
const problems: string[] = [];

afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
  expect(problems.splice(0)).toEqual([]);
});

/** Opens a browser session for a visitor who is not signed in. */
export async function createVisitor(options: SessionOptions = {}): Promise<BrowserSession> {
  const settings = { viewport: DESKTOP, baseURL: storefrontUrl, locale: 'en-GB', ...options };
  const context = await browser.newContext({ reducedMotion: 'reduce', ...settings });
  contexts.push(context);
  context.setDefaultTimeout(45_000);
  context.on('weberror', (error) => problems.push(error.error().message));
  context.on('console', (message) => {
    // Tests cause these errors on purpose: responses with a status of 400 and above, and scripts that cannot be loaded.
    const isExpected = /^(Failed to load resource|.*Failed to fetch dynamically imported module)/.test(
      message.text(),
    );
    if (message.type() === 'error' && !isExpected) problems.push(message.text());
  });
  return { context, page: await context.newPage() };
}

/** Registers a customer through the API. The customer's page is still empty. */
export async function createCustomer({
  name = 'Ayu Lestari',
  ...options
}: SessionOptions & { readonly name?: string } = {}): Promise<Customer> {
  const session = await createVisitor(options);
  const email = createEmail();
  const account = { email, fullname: name, password: PASSWORD, passwordConfirmation: PASSWORD };
  await signIn(session, '/api/register', account);
  return { ...session, name, email };
}

/** Signs in as the administrator through the API. The administrator's page is still empty. */
export async function createAdmin(options: SessionOptions = {}): Promise<BrowserSession> {
  const session = await createVisitor(options);
  await signIn(session, '/api/login', admin);
  return session;
}

/** Opens a page as the administrator, in a new browser session, and waits until its content is shown. */
export async function openAsAdmin(path: string): Promise<BrowserSession> {
  const session = await createAdmin();
  await openPage(session.page, path);
  return session;
}

export function createEmail(): string {
  return `shopper-${randomUUID()}@example.com`;
}

/** Calls a route that signs in, and stores the account in the local storage, as the storefront does after a sign-in. */
async function signIn({ context }: BrowserSession, path: string, data: object): Promise<void> {
  const response = await context.request.post(serviceUrl + path, {
    ...LIKE_BROWSER,
    data,
    failOnStatusCode: true,
  });
  const body = (await response.json()) as { data: { user: object } };
  const { cookies } = await context.storageState();
  const value = JSON.stringify({ state: { user: body.data.user }, version: 2 });
  const origin = { origin: storefrontUrl, localStorage: [{ name: 'bakery.session', value }] };
  await context.setStorageState({ cookies, origins: [origin] });
}
