import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aDataFolder } from './data-folder.ts'

/** A certificate with its private key, both as PEM. */
export type Certified = { readonly certificate: string; readonly key: string }

/** A certificate authority that exists only while a test runs, so that no private key is in the repository. */
export class Authority {
  readonly #key: KeyObject
  readonly #name: string
  /** The path of a file with its certificate. */
  readonly certificateFile: string

  constructor(name: string) {
    const { publicKey, privateKey } = aKeyPair()
    this.#key = privateKey
    this.#name = name
    this.certificateFile = join(aDataFolder(), 'authority.pem')
    writeFileSync(this.certificateFile, this.#signed(name, publicKey, [OF_AUTHORITY]))
  }

  /** A new key with a certificate for this name of a host. */
  certify(host: string): Certified {
    const { publicKey, privateKey } = aKeyPair()
    const certificate = this.#signed(host, publicKey, [alternativeName(host)])
    return { certificate, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) }
  }

  /** RFC 5280, section 4.1. */
  #signed(subject: string, publicKey: KeyObject, extensions: readonly Buffer[]): string {
    const content = sequence(
      tagged(0xa0, integer(Buffer.of(2))),
      integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
      ECDSA_WITH_SHA256,
      commonName(this.#name),
      VALIDITY,
      commonName(subject),
      publicKey.export({ type: 'spki', format: 'der' }),
      tagged(0xa3, sequence(...extensions)),
    )
    const signature = sign('sha256', content, this.#key)
    const whole = sequence(content, ECDSA_WITH_SHA256, tagged(0x03, Buffer.of(0), signature))
    const lines = whole.toString('base64').match(/.{1,64}/g) ?? []
    return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
  }
}

function aKeyPair() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/** From 2020 to 2120. Years from 2050 on have another form. */
const VALIDITY = sequence(
  tagged(0x17, Buffer.from('200101000000Z')),
  tagged(0x18, Buffer.from('21200101000000Z')),
)
const ECDSA_WITH_SHA256 = sequence(objectId('2a8648ce3d040302'))
const OF_AUTHORITY = sequence(
  objectId('551d13'),
  tagged(0x01, Buffer.of(0xff)),
  tagged(0x04, sequence(tagged(0x01, Buffer.of(0xff)))),
)

function alternativeName(host: string): Buffer {
  return sequence(objectId('551d11'), tagged(0x04, sequence(tagged(0x82, Buffer.from(host)))))
}

function commonName(name: string): Buffer {
  const attribute = sequence(objectId('550403'), tagged(0x0c, Buffer.from(name)))
  return sequence(tagged(0x31, attribute))
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes)
}

function objectId(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'))
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts)
}

/** A value of DER: its tag, its length and its content. */
function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag), lengthOf(content), content])
}

function lengthOf({ length }: Buffer): Buffer {
  if (length < 0x80) return Buffer.of(length)
  return length < 0x100 ? Buffer.of(0x81, length) : Buffer.of(0x82, length >> 8, length & 0xff)
}
