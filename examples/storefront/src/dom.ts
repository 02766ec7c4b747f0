/** What may stand in an element: text is always text, never markup. */
export type Child = Node | string | number | false | null | undefined | readonly Child[];

type Handlers = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };

/** Attributes by name, and listeners under `on`. `true` is an attribute without a value; false and undefined are none. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined | Handlers>> & {
  readonly on?: Handlers;
};

/** An element with attributes and children. The only way by which this storefront makes one. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'object') listen(element, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...nodesOf(children));
  return element;
}

/** Replaces what stands in an element. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...nodesOf(children));
}

/** An SVG element. */
export function svg(
  tag: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly Node[]
): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** An address that a link may lead to; null for anything but http(s), such as `javascript:`. */
export function webAddress(text: string): string | null {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : null;
}

function listen(element: HTMLElement, handlers: Handlers): void {
  for (const [type, handler] of Object.entries(handlers)) {
    element.addEventListener(type, handler as EventListener);
  }
}

function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child): (Node | string)[] => {
    if (child === null || child === undefined || child === false) return [];
    if (Array.isArray(child)) return nodesOf(child as readonly Child[]);
    return [typeof child === 'number' ? String(child) : (child as Node | string)];
  });
}
