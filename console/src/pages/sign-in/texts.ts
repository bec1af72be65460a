export const signInTexts = {
  title: 'Sign in',
  email: 'E-mail',
  password: 'Password',
  code: 'Code',
  codeHint: 'The six digits that your authenticator app shows.',
  submit: 'Sign in',
  with: (name: string) => `Sign in with ${name}`,
  or: 'or',
  ended: 'Your session has ended. Sign in again.',
  noUsers: 'This gateway has no users yet. Open the link that it printed when it started.',
  noUsersHint: 'The link ends with #link=… and works once. Restart the gateway to get a new one.',
  forgot: 'Forgot your password?',
  back: 'Back to sign-in',
  oidcRefused: {
    not_started: 'The sign-in was started in another browser, or too long ago. Try again.',
    not_invited: 'Nobody with your verified e-mail address was invited. Ask an owner for an invitation.',
    disabled: 'Your user is disabled. Ask an owner.',
    other: 'The sign-in with your organisation did not succeed. Try again.',
  },
  noWay: 'No way to sign in is switched on. Set TOLLGATE_OIDC_ISSUER or use a sign-in link.',
}

export const resetTexts = {
  title: 'Reset your password',
  text: 'We send a link to your e-mail address if it belongs to a user.',
  submit: 'Send the link',
  sent: 'If this address belongs to a user, a link is on its way. It is valid for one day.',
  noMail: 'This gateway sends no mail. Ask an owner for a link, or run this command on the server:',
  command: 'tollgate users link YOUR-EMAIL',
}

export const linkTexts = {
  title: {
    first: 'Create the first user',
    invitation: 'Accept the invitation',
    reset: 'Choose a new password',
  },
  text: {
    first: 'This user is an owner: it can do everything, and invite others.',
    invitation: 'Choose a password for your user.',
    reset: 'All your other sessions end.',
  },
  name: 'Your name',
  email: 'E-mail',
  password: 'New password',
  passwordHint: 'At least 12 characters. A few random words are good.',
  submit: { first: 'Create and sign in', invitation: 'Accept and sign in', reset: 'Save and sign in' },
  invalid: 'This link does not work',
  invalidText: 'It was used before, or it is too old. Ask for a new one.',
  role: 'Role',
}
