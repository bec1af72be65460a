/** The icons: lines on a field of 20 by 20, in the colour of the text. */
const shapes = {
  activity: 'M2 10h3.5l2.5-6 4 12 2.5-6H18',
  audit: 'M5 2.5h7l3 3v12H5zM12 2.5v3h3M7.5 10h5M7.5 13h5',
  bell: 'M5 8.5a5 5 0 0 1 10 0c0 4 1.5 5 1.5 5h-13S5 12.5 5 8.5M8.5 16.5a1.8 1.8 0 0 0 3 0',
  card: 'M2.5 5h15v10h-15zM2.5 8.5h15M5.5 12h3',
  chart: 'M3 16.5h14M5.5 13.5V9M10 13.5V4M14.5 13.5v-6',
  check: 'm4 10.5 4 4 8-9',
  close: 'm5 5 10 10M15 5 5 15',
  code: 'm7 6-4 4 4 4M13 6l4 4-4 4',
  copy: 'M7.5 7.5h9v9h-9zM12.5 7.5v-4h-9v9h4',
  dark: 'M16.5 12A7 7 0 0 1 8 3.5a7 7 0 1 0 8.5 8.5',
  disk: 'M3.5 5c0-1.4 2.9-2.5 6.5-2.5s6.5 1.1 6.5 2.5v10c0 1.4-2.9 2.5-6.5 2.5S3.5 16.4 3.5 15zM3.5 5c0 1.4 2.9 2.5 6.5 2.5s6.5-1.1 6.5-2.5M3.5 10c0 1.4 2.9 2.5 6.5 2.5s6.5-1.1 6.5-2.5',
  down: 'm5 8 5 5 5-5',
  download: 'M10 3v9.5M6 9l4 4 4-4M3.5 16.5h13',
  external: 'M8.5 4.5h-5v12h12v-5M11.5 3.5h5v5M16.5 3.5 9 11',
  film: 'M3 4.5h14v11H3zM6.5 4.5v11M13.5 4.5v11M3 8h3.5M3 12h3.5M13.5 8H17M13.5 12H17',
  gear: 'M10 7.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M10 2.5v2M10 15.5v2M17.5 10h-2M4.5 10h-2M15.3 4.7l-1.4 1.4M6.1 13.9l-1.4 1.4M15.3 15.3l-1.4-1.4M6.1 6.1 4.7 4.7',
  home: 'M3 9.5 10 3l7 6.5M5 8v9h10V8M8.5 17v-4.5h3V17',
  key: 'M6.5 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M10 10h7.5v2.5M14.5 10v2',
  light:
    'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M10 2v1.5M10 16.5V18M18 10h-1.5M3.5 10H2M15.7 4.3l-1.1 1.1M5.4 14.6l-1.1 1.1M15.7 15.7l-1.1-1.1M5.4 5.4 4.3 4.3',
  mail: 'M2.5 4.5h15v11h-15zM3 5.5l7 5.5 7-5.5',
  menu: 'M3 5.5h14M3 10h14M3 14.5h14',
  money:
    'M10 3v14M13.5 6.5C12.8 5.4 11.6 5 10 5c-2 0-3.5.9-3.5 2.5S8 9.8 10 10s3.5.9 3.5 2.5S12 15 10 15c-1.6 0-2.8-.4-3.5-1.5',
  nodes: 'M3.5 3.5h13v5h-13zM3.5 11.5h13v5h-13zM6.5 6h.01M6.5 14h.01',
  person: 'M10 3a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M3.5 17a6.5 6.5 0 0 1 13 0',
  play: 'M6 3.5v13l10-6.5z',
  plus: 'M10 4v12M4 10h12',
  plug: 'M7 2.5v4M13 2.5v4M4.5 6.5h11v3a5.5 5.5 0 0 1-11 0zM10 15v3',
  search: 'M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M13 13l4 4',
  shield: 'M10 2.5 16 5v5c0 4-2.5 6.5-6 7.5-3.5-1-6-3.5-6-7.5V5zM7.5 10l2 2 3-3.5',
  sort: 'm6.5 8 3.5-4 3.5 4M6.5 12l3.5 4 3.5-4',
  system: 'M2.5 4h15v9.5h-15zM7 17h6M10 13.5V17',
  tag: 'M3 3h6.6l7.4 7.4-6.6 6.6L3 9.6zM6.5 6.5h.01',
  up: 'm5 12 5-5 5 5',
  users:
    'M7.5 4a3 3 0 1 0 0 6 3 3 0 0 0 0-6M2 16.5a5.5 5.5 0 0 1 11 0M13 4.3a3 3 0 0 1 0 5.4M14.5 12a5.5 5.5 0 0 1 3.5 4.5',
  warning: 'M10 3 18 16.5H2zM10 8v4M10 14.3h.01',
  webhook: 'M5 12.5a3 3 0 1 0 3 3h5M8.5 7a3 3 0 1 1 4.7.6l2.3 4M12 5.5 9 11.5M15.5 12.5a3 3 0 1 1-2 5',
} as const

export type IconName = keyof typeof shapes

/** Decoration beside a text. A button with only an icon needs a label of its own. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  )
}

export function Logo() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#4f46e5" />
      <path
        d="M8 22V13a8 8 0 0 1 16 0v9M8 17h16"
        fill="none"
        stroke="#fff"
        stroke-width="3"
        stroke-linecap="round"
      />
    </svg>
  )
}
