/** Script of the pages: swaps that keep what a person did, times, copies, ticks, and news. The pages work without it. */
(() => {
  const say = (text) => {
    const region = document.getElementById('said');
    if (region && text) region.textContent = text;
  };

  // A swap keeps typed values, ticks, and open parts: only the page's own words follow the server.
  const kept = new Set(['value', 'checked', 'selected', 'open', 'hidden']);
  const keeping = 'input:not([type=hidden]), textarea, option, details, dialog, button.copy';
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) =>
    !(kept.has(name) && element.matches(keeping));

  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ];
  const span = (ms) => {
    const seconds = Math.max(0, Math.round(ms / 1_000));
    const [unit, size] = units.find(([, one]) => seconds >= one) ?? units[3];
    return `${Math.floor(seconds / size)} ${unit}`;
  };
  const tick = () => {
    const now = Date.now();
    for (const time of document.querySelectorAll('time[data-relative]')) {
      const at = Date.parse(time.dateTime);
      const past = time.dataset.relative === 'lasting' ? span(now - at) : `${span(now - at)} ago`;
      const text = at > now ? `in ${span(at - now)}` : past;
      if (time.textContent !== text) time.textContent = text;
    }
    for (const bar of document.querySelectorAll('progress[data-began]'))
      bar.value = Math.min(bar.max, now - Date.parse(bar.dataset.began));
  };

  const ticked = () => {
    const boxes = [...document.querySelectorAll('td.tick input')];
    const many = boxes.filter((box) => box.checked).length;
    for (const all of document.querySelectorAll('th.tick input')) {
      all.checked = many > 0 && many === boxes.length;
      all.indeterminate = many > 0 && many < boxes.length;
    }
    for (const count of document.querySelectorAll('[data-count]')) count.textContent = `${many} selected`;
  };
  document.addEventListener('change', ({ target }) => {
    if (target.matches?.('th.tick input'))
      for (const box of document.querySelectorAll('td.tick input')) box.checked = target.checked;
    if (target.matches?.('.tick input')) ticked();
  });

  const prepare = () => {
    for (const one of document.querySelectorAll('button.copy[hidden], th.tick input[hidden]')) one.hidden = false;
    ticked();
    tick();
  };
  document.addEventListener('click', async (event) => {
    const button = event.target.closest?.('button.copy');
    if (!button) return;
    await navigator.clipboard?.writeText(button.dataset.copy);
    button.classList.add('done');
    say('Copied');
    setTimeout(() => button.classList.remove('done'), 1_500);
  });

  // News of a swap: what changed is shown by a flash, and is read out in one sentence.
  const mostSaid = 3;
  let before = new Map();
  const newsOf = () => new Map([...document.querySelectorAll('[data-says]')].map((one) => [one.dataset.key, one]));
  document.addEventListener('htmx:beforeSwap', () => {
    before = new Map([...newsOf()].map(([key, one]) => [key, one.dataset.says]));
  });
  document.addEventListener('htmx:afterSettle', ({ detail }) => {
    if (detail.target?.matches('.part')) find();
    prepare();
    const changed = [...newsOf()].filter(([key, one]) => before.get(key) !== one.dataset.says).map(([, one]) => one);
    for (const one of changed) one.classList.add('changed');
    const more = changed.length - mostSaid;
    const texts = changed.slice(0, mostSaid).map((one) => one.dataset.says);
    say([...texts, ...(more > 0 ? [`and ${more} more`] : [])].join(', '));
    before = new Map([...newsOf()].map(([key, one]) => [key, one.dataset.says]));
  });

  const live = (text, lost = false) => {
    const dot = document.querySelector('.live');
    if (!dot || !document.querySelector('[sse-connect]')) return;
    dot.hidden = false;
    dot.classList.toggle('lost', lost);
    dot.firstElementChild.textContent = text;
    const clock = dot.querySelector('time');
    if (!lost) clock.textContent = `${new Date().toISOString().slice(11, 19)} UTC`;
  };
  // A stream usually reconnects at once. After some seconds without it, a notice shows that the page may be old.
  let away = null;
  let sinceLost;
  const sayAway = () => {
    live('Reconnecting', true);
    away = document.createElement('p');
    away.className = 'notice wait';
    say('Connection lost');
    away.textContent = 'Not connected: this page may be out of date. It reconnects automatically.';
    document.querySelector('main').prepend(away);
  };
  const lose = () => {
    sinceLost ??= setTimeout(sayAway, 4_000);
  };
  const find = () => {
    live('Live');
    clearTimeout(sinceLost);
    sinceLost = undefined;
    away?.remove();
    away = null;
  };
  document.addEventListener('htmx:sseError', lose);
  // A part that the API does not answer is asked for again.
  const again = ({ detail: { elt, xhr } }) => {
    if (!elt.matches('.part') || (xhr?.status >= 400 && xhr.status < 500)) return;
    lose();
    setTimeout(() => htmx.trigger(elt, 'sse:change'), 5_000);
  };
  document.addEventListener('htmx:responseError', again);
  document.addEventListener('htmx:sendError', again);
  document.addEventListener('htmx:sseOpen', () => {
    const lost = sinceLost !== undefined;
    find();
    if (!lost) return;
    // The server does not always resend missed events, so every part is reloaded.
    for (const part of document.querySelectorAll('.part')) htmx.trigger(part, 'sse:change');
  });
  // Search from everywhere: Ctrl-K or ⌘K, arrows among what is found, Escape to leave.
  const search = document.getElementById('search');
  const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
  if (isApple && search) search.form.querySelector('.keys').textContent = '⌘ K';
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || !search) return;
    event.preventDefault();
    if (search.offsetParent) search.select();
    else location.assign('/search');
  });
  search?.form.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') document.activeElement.blur();
    if (step === undefined) return;
    event.preventDefault();
    const stops = [search, ...document.querySelectorAll('#found a')];
    stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
  });

  setInterval(tick, 1_000);
  prepare();
})();
