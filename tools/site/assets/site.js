// What a page can do with scripts: switch its colors, search, filter tables, open the menu on a small screen. Without scripts it reads the same.
const root = document.currentScript.dataset.root;
const $ = (selector) => document.querySelector(selector);

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

const isDark = () =>
  (document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';

const themeSwitch = $('[data-theme-switch]');
themeSwitch.hidden = false;
themeSwitch.addEventListener('click', () => {
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem('temper-theme', theme);
  } catch {
    // The choice lasts as long as the page.
  }
});

// The index is large, so it is loaded with the first search. A script is loaded from a folder, too, where fetch is refused.
let index;
const loadIndex = () => {
  index ??= new Promise((resolve, reject) => {
    const script = make('script', { src: `${root}assets/search-index.js` });
    script.onload = () => resolve(self.temperIndex);
    script.onerror = reject;
    document.head.append(script);
  });
  return index;
};

const dialog = $('#site-search');
const input = dialog.querySelector('input');
const list = dialog.querySelector('ol');
const status = dialog.querySelector('[role="status"]');

const resultOf = ({ title, heading, url, excerpt }) =>
  make(
    'li',
    {},
    make('a', { href: `${root}${url}` }, make('b', { textContent: heading || title }), make('small', { textContent: heading ? title : '' }), make('span', { textContent: excerpt })),
  );

const search = async () => {
  const question = input.value.trim();
  if (question === '') {
    list.replaceChildren();
    status.textContent = '';
    return;
  }
  try {
    const loaded = await loadIndex();
    // Meanwhile more may have been typed.
    if (question !== input.value.trim()) return;
    const found = self.temperFind(loaded, question);
    list.replaceChildren(...found.map(resultOf));
    status.textContent = found.length === 0 ? `Nothing was found for "${question}".` : `${found.length} found`;
  } catch {
    status.textContent = 'The search index could not be loaded. Is assets/search-index.js in the folder of the site?';
  }
};

const openSearch = () => {
  dialog.showModal();
  input.select();
  void loadIndex().catch(() => undefined);
};

const step = (event) => {
  const links = [...list.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  const next = event.key === 'ArrowDown' ? at + 1 : at - 1;
  event.preventDefault();
  (links[Math.min(next, links.length - 1)] ?? input).focus();
};

const searchButton = $('[data-search]');
searchButton.hidden = false;
searchButton.addEventListener('click', openSearch);
input.addEventListener('input', () => void search());
input.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') list.querySelector('a')?.click();
});
dialog.querySelector('button').addEventListener('click', () => dialog.close());
list.addEventListener('click', () => dialog.close());
dialog.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') step(event);
});
document.addEventListener('keydown', (event) => {
  const typing = event.target.closest?.('input, textarea, select, dialog');
  if ((event.key === '/' && !typing) || (event.key === 'k' && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    if (!dialog.open) openSearch();
  }
});

const menu = $('.menu');
menu.addEventListener('click', (event) => {
  event.preventDefault();
  const open = document.body.classList.toggle('menu-open');
  menu.setAttribute('aria-expanded', String(open));
  if (open) $('#site-pages a').focus();
});
menu.setAttribute('role', 'button');
menu.setAttribute('aria-expanded', 'false');
const current = $('#site-pages [aria-current]');
if (current) $('#site-pages').scrollTop = current.offsetTop - $('#site-pages').clientHeight / 2;

// One field for all tables of a page: a row stays if it has every word, and a table without rows goes with its heading.
const filterable = $('[data-filter] article');
if (filterable) {
  const tables = [...filterable.querySelectorAll('.table')];
  const rows = tables.flatMap((table) => [...table.querySelectorAll('tbody tr')]);
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const headingOf = (table) => {
    for (let before = table.previousElementSibling; before; before = before.previousElementSibling)
      if (/^H[23]$/.test(before.tagName)) return before;
  };
  const count = make('span', { className: 'count' });
  count.setAttribute('role', 'status');
  const field = make('input', { type: 'search', placeholder: 'Filter the tables of this page' });
  field.setAttribute('aria-label', 'Filter the tables of this page');
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => texts.get(row).includes(word));
    for (const table of tables) {
      table.hidden = !table.querySelector('tbody tr:not([hidden])');
      const heading = headingOf(table);
      if (heading) heading.hidden = table.hidden;
    }
    count.textContent = words.length === 0 ? '' : `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  });
  filterable.querySelector('h1').after(make('div', { className: 'filter' }, field, count));
}
