// The page: lists patients, enters a blood pressure, draws the readings.
import { Cdr, CdrError } from '@everchart/client';
import { patients, POSITIONS, readings, record, type Point, type Reading } from './readings.js';

const cdr = new Cdr({ url: new URLSearchParams(location.search).get('cdr') ?? 'http://127.0.0.1:8080' });
const element = <T extends Element = HTMLElement>(selector: string): T => {
  const found = document.querySelector<T>(selector);
  if (found === null) throw new Error(`the page has no ${selector}`);
  return found;
};
const list = element('#patients');
const form = element<HTMLFormElement>('form');
const chart = element<SVGSVGElement>('svg');
const message = element('#message');
let chosen = '';

for (const { code, label } of POSITIONS) element('select').append(new Option(label, code));

async function listPatients(): Promise<void> {
  const buttons = (await patients(cdr)).map(({ ehr, patient }) => {
    const button = document.createElement('button');
    button.textContent = patient;
    button.addEventListener('click', () => void choose(ehr, patient ?? ''));
    return button;
  });
  list.replaceChildren(...buttons);
}

async function choose(ehr: string, patient: string): Promise<void> {
  chosen = ehr;
  element('#patient').textContent = patient;
  form.hidden = false;
  draw(await readings(cdr, ehr));
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void enter().catch((error: unknown) => {
    // What the server found, one line each.
    const lines =
      error instanceof CdrError ? error.violations.map(({ path, message: text }) => `${path}: ${text}`) : [];
    message.textContent = [String(error), ...lines].join('\n');
  });
});

async function enter(): Promise<void> {
  const given = new FormData(form);
  await record(cdr.ehr(chosen), {
    systolic: Number(given.get('systolic')),
    diastolic: Number(given.get('diastolic')),
    position: String(given.get('position')) as Reading['position'],
    time: new Date().toISOString(),
    by: 'Ada Moe',
  });
  message.textContent = 'Recorded';
  draw(await readings(cdr, chosen));
}

const [WIDTH, HEIGHT, TOP] = [600, 200, 250];

function draw(points: readonly Point[]): void {
  const lines = (['systolic', 'diastolic'] as const).map((kind) => {
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');
    const known = points.flatMap((point, index) =>
      point[kind] === null ? [] : [[index, point[kind]] as const],
    );
    const places = known.map(([index, value]) => {
      const x = (WIDTH * (index + 0.5)) / points.length;
      return `${x.toFixed(0)},${(HEIGHT - (HEIGHT * value) / TOP).toFixed(0)}`;
    });
    line.setAttribute('class', kind);
    line.setAttribute('points', places.join(' '));
    return line;
  });
  chart.replaceChildren(...lines);
  element('figcaption').textContent = points
    .map(({ systolic, diastolic }) => `${systolic}/${diastolic}`)
    .join('  ');
}

void listPatients();
