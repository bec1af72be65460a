// Runs before the first paint, so that a page in dark mode does not flash.
try {
  const theme = localStorage.getItem('tollgate-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
} catch {
  // Storage is switched off in this browser. The theme of the system is used.
}
