// The reader's choice of light or dark, before anything is shown; without one the system's is taken.
try {
  const chosen = localStorage.getItem('temper-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // A browser may keep nothing for files: the system's choice stays.
}
