/** Icons of the pages, by their names in lucide-static; `npm run gen` makes assets/icons.svg of them. */
export const iconNames = [
  'activity',
  'book-open-check',
  'check',
  'chevron-down',
  'chevron-right',
  'circle-check',
  'columns-3',
  'copy',
  'ellipsis',
  'heart-pulse',
  'inbox',
  'key-round',
  'layers',
  'list-filter',
  'log-out',
  'package-open',
  'plus',
  'scroll-text',
  'search',
  'server',
  'shield-check',
  'user-round',
  'waves',
  'x',
] as const;

export type IconName = (typeof iconNames)[number];
