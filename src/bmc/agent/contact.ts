/** Address, token and TLS rules of a node's ramdisk, from its heartbeat. */
import { X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import { raise } from '../../model/errors';
import { withoutLastSlashes } from '../../model/texts';
import type { BmcNode } from '../contract';
import type { Tls } from '../network';

type Pinned = Tls & {
  readonly checkServerIdentity?: (host: string, certificate: PeerCertificate) => Error | undefined;
};

export type Contact = {
  /** Scheme, authority and path in front of `/v1/`. */
  readonly base: string;
  /** `host:port`, for errors; without the token. */
  readonly label: string;
  readonly token: string;
  readonly tls: Pinned;
};

const parseCallbackUrl = (text: string): URL | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.search === ''
    ? url
    : undefined;
};

const certificate = (pem: string): X509Certificate | undefined => {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
};

// The ramdisk's address may change, so its certificate must match, not the name in it. A certificate signed by the pinned one passes
// the chain check, so the bytes are compared.
const pin = (pem: string, known: X509Certificate): Pinned => ({
  rejectUnauthorized: true,
  ca: [pem],
  checkServerIdentity: (_, shown) =>
    known.raw.equals(shown.raw)
      ? undefined
      : Object.assign(new Error('another certificate'), { code: 'ERR_TLS_CERT_NOT_PINNED' }),
});

/** @throws AgentUnreachable while the ramdisk has not called back; AgentTlsFailed if its certificate is invalid */
export const contactOf = ({ agent, name, uuid }: BmcNode): Contact => {
  const node = name ?? uuid;
  if (!agent) return raise('AgentUnreachable', { node, agent: 'no address', reason: 'it has not called back yet' });
  const url = parseCallbackUrl(agent.url);
  if (!url)
    return raise('AgentRejected', {
      node,
      agent: 'its callback URL',
      what: 'the connection',
      status: 'url',
      reason: 'it is no plain http or https URL',
    });
  const facts = { node, agent: url.host };
  const base = `${url.origin}${withoutLastSlashes(url.pathname)}`;
  const rest = { base, label: url.host, token: agent.token };
  if (agent.verify_ca === null) return { ...rest, tls: { rejectUnauthorized: true } };
  if (url.protocol === 'http:') return raise('AgentTlsFailed', { ...facts, reason: 'it calls back over plain http' });
  const known = certificate(agent.verify_ca);
  return known
    ? { ...rest, tls: pin(agent.verify_ca, known) }
    : raise('AgentTlsFailed', { ...facts, reason: 'what it announced is no PEM certificate' });
};
