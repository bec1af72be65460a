/** No engine makes a clip of an hour. A larger number is a mistake, such as milliseconds. */
export const SECONDS = { min: 0.001, max: 3600, whole: false }

/** The name of a media parameter. */
export const paramName = /^[a-z][a-z0-9_]{0,63}$/

/** A value of a media parameter. */
export const paramValue = {
  pattern: /^[^\p{Cc}\p{Cs}]{1,64}$/u,
  remedy: 'write text of at most 64 characters, in quotes if it is a number',
}
