import { divideRoundingUp, type NanoUsd } from '../money.ts'
import { TOKENS_PER_PRICE } from './tariff.ts'

/** The tokens of an image request, as the answer reports them. They are disjoint. */
export type ImageTokens = {
  readonly textInput: number
  readonly imageInput: number
  readonly textOutput: number
  readonly imageOutput: number
}

/** Nano-USD per million tokens of each sort. */
export type ImageTokenPrices = {
  readonly textInput: NanoUsd
  readonly imageInput: NanoUsd
  /** Of text and thoughts beside the image. Absent if they cost as much as the image. */
  readonly textOutput?: NanoUsd
  readonly imageOutput: NanoUsd
}

/** The exact price of tokens, rounded up once to a nano-USD. */
export function priceOfImageTokens(tokens: ImageTokens, prices: ImageTokenPrices): NanoUsd {
  const femtoUsd =
    BigInt(tokens.textInput) * prices.textInput +
    BigInt(tokens.imageInput) * prices.imageInput +
    BigInt(tokens.textOutput) * (prices.textOutput ?? prices.imageOutput) +
    BigInt(tokens.imageOutput) * prices.imageOutput
  return divideRoundingUp(femtoUsd, TOKENS_PER_PRICE)
}

/** Whether an answer reported any tokens: no image is made of none. */
export function hasTokens(tokens: ImageTokens | undefined): tokens is ImageTokens {
  return tokens !== undefined && Object.values(tokens).some(count => count > 0)
}
