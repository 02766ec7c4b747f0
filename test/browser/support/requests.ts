import type { Page, Route } from 'playwright-core';

/**
 * Options of requests that Playwright sends itself. The service closes a connection that is idle for 5 s. If a request is sent
 * at that moment, Playwright sends the request again, as a browser does.
 */
export const LIKE_BROWSER = { maxRetries: 1 };

/** Holds all requests of a page for a URL. Returns a function that sends them and holds no more. */
export async function holdRequests(page: Page, url: string): Promise<() => Promise<void>> {
  const held: Route[] = [];
  let isHolding = true;
  await page.route(url, async (route) => {
    if (isHolding) held.push(route);
    else await route.continue();
  });
  return async () => {
    isHolding = false;
    for (const route of held) await route.continue();
  };
}

/**
 * Loses the response of a page's first request with this method: the service performs the request, but the page gets no
 * response.
 */
export async function loseFirstResponse(page: Page, url: string, method: string): Promise<void> {
  let isLost = false;
  await page.route(url, async (route) => {
    if (isLost || route.request().method() !== method) return route.continue();
    isLost = true;
    const response = await route.fetch(LIKE_BROWSER);
    expect(response.ok()).toBe(true);
    return route.abort();
  });
}

/** Changes the `data` of the service's responses before a page gets them. */
export async function changeResponses<Data>(
  page: Page,
  url: string | RegExp,
  change: (data: Data) => Data,
): Promise<void> {
  await page.route(url, async (route) => {
    const response = await route.fetch(LIKE_BROWSER);
    const { data } = (await response.json()) as { data: Data };
    await route.fulfill({ response, json: { data: change(data) } });
  });
}
