import { chromium } from 'playwright-core';
import { BROWSER_ARGS } from './arguments.mjs';

const WIDTH = 960;
const HEIGHT = 720;

/** Pictures of baked goods (JPEG), drawn by the browser itself. @returns bytes by name */
export async function pictures(executablePath) {
  const browser = await chromium.launch({ executablePath, args: BROWSER_ARGS });
  try {
    const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } });
    const drawn = {};
    for (const [name, scene] of Object.entries(SCENES)) {
      await page.setContent(`<style>body{margin:0}svg{display:block}</style>${scene}`);
      drawn[name] = await page.screenshot({ type: 'jpeg', quality: 82 });
    }
    return drawn;
  } finally {
    await browser.close();
  }
}

function scene({ wall, table, things }) {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 960 720">
    <defs>
      <radialGradient id="wall" cx=".3" cy=".1" r="1.1"><stop offset="0" stop-color="${wall[0]}"/><stop offset="1" stop-color="${wall[1]}"/></radialGradient>
      <linearGradient id="table" x2="0" y2="1"><stop offset="0" stop-color="${table[0]}"/><stop offset="1" stop-color="${table[1]}"/></linearGradient>
      <radialGradient id="crust" cx=".4" cy=".2" r=".95"><stop offset="0" stop-color="#f0bd74"/><stop offset=".45" stop-color="#cf8138"/><stop offset="1" stop-color="#7c3f14"/></radialGradient>
      <radialGradient id="dark" cx=".4" cy=".2" r=".95"><stop offset="0" stop-color="#b9773f"/><stop offset=".5" stop-color="#834820"/><stop offset="1" stop-color="#43200a"/></radialGradient>
      <linearGradient id="crumb" x2="0" y2="1"><stop offset="0" stop-color="#fdf0d3"/><stop offset="1" stop-color="#f1d39a"/></linearGradient>
      <filter id="soft" x="-30%" y="-80%" width="160%" height="260%"><feGaussianBlur stdDeviation="16"/></filter>
      <filter id="grain"><feTurbulence baseFrequency=".9" numOctaves="2" seed="4"/><feColorMatrix values="0 0 0 0 .35  0 0 0 0 .2  0 0 0 0 .1  0 0 0 .5 -.2"/></filter>
    </defs>
    <rect width="960" height="720" fill="url(#wall)"/>
    <rect y="470" width="960" height="250" fill="url(#table)"/>
    <path d="M0 540h960M0 620h960" stroke="#0001" stroke-width="3"/>
    ${things}
    <rect width="960" height="720" filter="url(#grain)" opacity=".16"/>
  </svg>`;
}

const shadow = (x, y, rx) =>
  `<ellipse cx="${x}" cy="${y}" rx="${rx}" ry="26" fill="#3a1c08" opacity=".5" filter="url(#soft)"/>`;

const loaf = `${shadow(480, 590, 330)}
  <path d="M165 560c-40-150 90-270 315-270s355 120 315 270c-6 24-30 36-60 36H225c-30 0-54-12-60-36Z" fill="url(#crust)"/>
  ${[300, 400, 500, 600].map((x) => `<path d="M${x} 345c40 40 50 90 30 150" fill="none" stroke="#fbe3b4" stroke-width="20" stroke-linecap="round" opacity=".85"/>`).join('')}
  <path d="M230 420c50-70 140-96 240-98" fill="none" stroke="#fff" stroke-width="12" stroke-linecap="round" opacity=".18"/>`;

const croissant = `${shadow(480, 575, 330)}
  <path d="M130 560c-10-170 150-300 350-300s360 130 350 300c-40 40-110 20-140-30-36-60-110-90-210-90s-174 30-210 90c-30 50-100 70-140 30Z" fill="url(#crust)"/>
  ${['M245 315c-36 70-54 130-50 240', 'M350 275c-34 60-44 110-42 190', 'M480 262v178', 'M610 275c34 60 44 110 42 190', 'M715 315c36 70 54 130 50 240'].map((d) => `<path d="${d}" fill="none" stroke="#6d330e" stroke-width="9" stroke-linecap="round" opacity=".55"/>`).join('')}
  <path d="M270 330c60-40 130-55 200-56" fill="none" stroke="#fff" stroke-width="12" stroke-linecap="round" opacity=".22"/>`;

const cake = `${shadow(480, 600, 340)}
  <path d="M170 420 690 300c60 30 95 70 105 120Z" fill="#fbe9c6"/>
  <path d="M170 420h625v160H170Z" fill="url(#crumb)"/>
  ${Array.from({ length: 8 }, (_, i) => `<path d="M170 ${432 + i * 20}h625" stroke="${i % 2 ? '#b06a2c' : '#7c4317'}" stroke-width="7" opacity=".8"/>`).join('')}
  <path d="M170 420 690 300c60 30 95 70 105 120Z" fill="url(#crust)" opacity=".85"/>
  <path d="M150 590h665" stroke="#fff" stroke-width="18" stroke-linecap="round"/>`;

const ring = [
  [330, 470, 150],
  [620, 440, 170],
]
  .map(
    ([x, y, r]) => `${shadow(x, y + r * 0.82, r)}
  <ellipse cx="${x}" cy="${y}" rx="${r}" ry="${r * 0.84}" fill="url(#crust)"/>
  <ellipse cx="${x}" cy="${y - r * 0.1}" rx="${r * 0.86}" ry="${r * 0.62}" fill="#fdf3e2" opacity=".92"/>
  <ellipse cx="${x}" cy="${y - r * 0.06}" rx="${r * 0.3}" ry="${r * 0.2}" fill="#8a4a1c"/>
  <ellipse cx="${x}" cy="${y}" rx="${r * 0.26}" ry="${r * 0.14}" fill="${'#4e2609'}"/>`,
  )
  .join('');

const bun = [
  [290, 500, 130],
  [480, 480, 150],
  [680, 500, 130],
]
  .map(
    ([x, y, r]) => `${shadow(x, y + r * 0.72, r)}
  <path d="M${x - r} ${y + r * 0.55}c-20-${r * 1.1} ${r * 0.5}-${r * 1.45} ${r}-${r * 1.45}s${r + 20} ${r * 0.35} ${r} ${r * 1.45}c-4 20-20 28-40 28H${x - r + 40}c-20 0-36-8-40-28Z" fill="url(#crust)"/>
  <path d="M${x - r * 0.5} ${y - r * 0.5}c${r * 0.2}-${r * 0.2} ${r * 0.4}-${r * 0.25} ${r * 0.6}-${r * 0.25}" stroke="#fff" stroke-width="10" fill="none" stroke-linecap="round" opacity=".3"/>`,
  )
  .join('');

const basket = `${shadow(480, 610, 330)}
  ${[300, 420, 540, 660].map((x, i) => `<path d="M${x - 40} 520 ${x - 60 + i * 20} 190c10-40 60-40 70 0l60 330Z" fill="url(#${i % 2 ? 'dark' : 'crust'})"/>`).join('')}
  <path d="M180 470h600l-50 140H230Z" fill="#a8743c"/>
  ${Array.from({ length: 12 }, (_, i) => `<path d="M${205 + i * 48} 472v132" stroke="#7b4f22" stroke-width="8"/>`).join('')}
  <path d="M176 470h608M195 520h570M214 566h532" stroke="#c99a5b" stroke-width="12" stroke-linecap="round"/>`;

const oven = `<rect x="130" y="120" width="700" height="470" rx="40" fill="#5a3a26"/>
  <rect x="190" y="200" width="580" height="310" rx="24" fill="#2a1208"/>
  <ellipse cx="480" cy="500" rx="270" ry="90" fill="#ff9a3c" opacity=".55" filter="url(#soft)"/>
  ${[300, 480, 660].map((x) => `<path d="M${x - 75} 470c-4-60 30-95 75-95s79 35 75 95Z" fill="url(#crust)"/>`).join('')}
  <path d="M200 474h560" stroke="#9b8674" stroke-width="10"/>
  <rect x="380" y="150" width="200" height="18" rx="9" fill="#d8c3ab"/>`;

const warm = { wall: ['#fff3df', '#e9c490'], table: ['#c99563', '#9a6535'] };
const rose = { wall: ['#fdeee6', '#e2b8a4'], table: ['#b98560', '#8c5a39'] };
const sage = { wall: ['#f3f3e2', '#c3c29a'], table: ['#b99a6c', '#8b6c3f'] };
const SCENES = {
  loaf: scene({ ...warm, things: loaf }),
  croissant: scene({ ...rose, things: croissant }),
  cake: scene({ ...sage, things: cake }),
  ring: scene({ ...rose, things: ring }),
  bun: scene({ ...warm, things: bun }),
  counter: scene({ ...sage, things: basket }),
  oven: scene({ ...warm, things: oven }),
};
