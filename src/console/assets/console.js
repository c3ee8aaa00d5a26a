/** Script of the pages: relative times, copied ids and a notice of a lost stream. The pages work without it. */
(() => {
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
      const text = at > now ? `in ${span(at - now)}` : `${span(now - at)} ago`;
      if (time.textContent !== text) time.textContent = text;
    }
    for (const bar of document.querySelectorAll('progress[data-began]'))
      bar.value = Math.min(bar.max, now - Date.parse(bar.dataset.began));
  };
  const prepare = () => {
    for (const button of document.querySelectorAll('button.copy[hidden]')) button.hidden = false;
    tick();
  };
  document.addEventListener('click', async (event) => {
    const button = event.target.closest?.('button.copy');
    if (!button) return;
    await navigator.clipboard?.writeText(button.dataset.copy);
    button.textContent = 'copied';
    setTimeout(() => {
      button.textContent = 'copy';
    }, 1_500);
  });
  // A focused link keeps the focus when its part of the page is reloaded.
  let focused = null;
  document.addEventListener('htmx:beforeSwap', () => {
    focused = document.activeElement?.getAttribute?.('href') ?? null;
  });
  document.addEventListener('htmx:afterSettle', () => {
    prepare();
    if (focused !== null && document.activeElement === document.body)
      document.querySelector(`main a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  });
  // A stream usually reconnects at once. After some seconds without it, a notice shows that the page may be old.
  let away = null;
  let sinceLost;
  const sayAway = () => {
    away = document.createElement('p');
    away.className = 'notice wait';
    away.setAttribute('role', 'status');
    away.textContent = 'Not connected: what is shown may be old. The page connects again by itself.';
    document.querySelector('main').prepend(away);
  };
  document.addEventListener('htmx:sseError', () => {
    sinceLost ??= setTimeout(sayAway, 4_000);
  });
  document.addEventListener('htmx:sseOpen', () => {
    if (sinceLost === undefined) return;
    clearTimeout(sinceLost);
    sinceLost = undefined;
    away?.remove();
    away = null;
    // The server does not always resend missed events, so every part is reloaded.
    for (const part of document.querySelectorAll('[hx-trigger="sse:change"]')) htmx.trigger(part, 'sse:change');
  });
  setInterval(tick, 1_000);
  prepare();
})();
