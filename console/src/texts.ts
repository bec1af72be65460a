export const product = 'Tollgate'

export const navigationTexts = {
  label: 'Main',
  skip: 'Skip to the content',
  menu: 'Menu',
  groups: { business: 'Business', gateway: 'Gateway', team: 'Team' },
  accounts: 'Accounts',
  keys: 'Keys',
  overview: 'Overview',
  margins: 'Margins',
  playground: 'Playground',
  books: 'Books',
  doctor: 'Doctor',
  nodes: 'Nodes',
  settings: 'Settings',
  tokens: 'Admin tokens',
  requests: 'Requests',
  usage: 'Charges',
  jobs: 'Jobs',
  webhooks: 'Webhooks',
  mail: 'Mail',
  audit: 'Audit log',
  models: 'Models and prices',
  modelsTab: 'Models',
  system: 'System',
  apiDocs: 'API description',
  priceLists: 'Price lists',
  providers: 'Providers',
  catalog: 'Catalog',
  users: 'Users',
  profile: 'Profile',
  signOut: 'Sign out',
  catalogHistory: 'History',
  signOutFailed: 'You are still signed in, because the gateway could not be reached.',
}

export const notLoadedTexts = {
  title: 'This page was not loaded',
  text: 'Its script did not arrive. Either the gateway cannot be reached, or it was upgraded.',
  again: 'Load it again',
}

export const notFoundTexts = {
  title: 'Page not found',
  text: 'There is no page at this address, or your role does not see it.',
  home: 'Go to the first page',
}

export const rolesTexts = {
  owner: 'Owner',
  operator: 'Operator',
  support: 'Support',
  viewer: 'Viewer',
}

export const roleMeaningsTexts = {
  owner: 'Everything, with users, admin tokens and providers.',
  operator: 'Everything except users, admin tokens and providers.',
  support: 'Reads everything, and grants credit up to an amount a day.',
  viewer: 'Reads everything.',
}
