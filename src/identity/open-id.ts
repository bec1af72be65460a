import * as oauth from 'oauth4webapi'
import { GatewayError } from '../domain/errors.ts'
import type { OpenIdAttempt, OpenIdPerson, OpenIdProvider } from '../gateway/ports/access/sign-in.ts'

export type OpenIdSettings = {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly name: string
}

/** For each request to the provider. */
const TIMEOUT_MS = 10_000

/**
 * Signs people in at an OpenID provider with the authorization code flow and PKCE. `oauth4webapi` checks the issuer,
 * the state, the nonce, the audience, the times and the signature.
 */
export function openIdProvider(settings: OpenIdSettings): OpenIdProvider {
  const { issuer, clientId, name } = settings
  return {
    name,
    authorizationUrl: async ({ redirectUri, state, nonce, codeVerifier }) => {
      const { authorization_endpoint: endpoint } = await explained(() => discover(settings))
      if (endpoint === undefined) throw failed('It has no authorization endpoint.')
      const url = new URL(endpoint)
      const parameters = {
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'openid email',
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      }
      for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value)
      return url.href
    },
    person: (attempt, returnedTo) => explained(() => personOf(attempt, returnedTo, settings)),
  }

  function failed(help: string): GatewayError {
    return new GatewayError('sign_in_failed', `The OpenID provider ${issuer} is not usable. ${help}`)
  }
}

async function discover({ issuer }: OpenIdSettings): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer)
  return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, optionsFor(issuer)))
}

async function personOf(
  { redirectUri, state, nonce, codeVerifier }: OpenIdAttempt,
  returnedTo: URL,
  settings: OpenIdSettings,
): Promise<OpenIdPerson> {
  const { issuer, clientId, clientSecret } = settings
  const server = await discover(settings)
  const client = { client_id: clientId }
  const parameters = oauth.validateAuthResponse(server, client, returnedTo, state)
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.ClientSecretPost(clientSecret),
    parameters,
    redirectUri,
    codeVerifier,
    optionsFor(issuer),
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  })
  await oauth.validateApplicationLevelSignature(server, response, optionsFor(issuer))
  const claims = oauth.getValidatedIdTokenClaims(tokens)
  if (claims === undefined) throw new Error('The provider sent no ID token.')
  const { email, email_verified: isVerified } = claims
  return {
    identity: { issuer: claims.iss, subject: claims.sub },
    verifiedEmail: isVerified === true && typeof email === 'string' ? email.toLowerCase() : undefined,
  }
}

/** A provider without TLS is for tests, and for a private network that the operator trusts. */
function optionsFor(issuer: string) {
  return {
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }
}

/** Makes every failure an answer for the person. The cause is for the operator. */
async function explained<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call()
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw new GatewayError('sign_in_failed', 'The sign-in at the provider did not succeed. Try again.', {
      shouldRetry: false,
      cause,
    })
  }
}
