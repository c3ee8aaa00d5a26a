/** The rack's self-signed certificate: made once, kept in the state folder, good for the loopback names. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { generate, type SubjectAltNameEntry } from 'selfsigned';

export type Certificate = { readonly key: string; readonly cert: string };

const names = (host: string): [SubjectAltNameEntry, ...SubjectAltNameEntry[]] => [
  { type: 2, value: 'localhost' },
  { type: 7, ip: '127.0.0.1' },
  ...(host === '127.0.0.1' || host === 'localhost'
    ? []
    : [isIP(host) ? ({ type: 7, ip: host } as const) : ({ type: 2, value: host } as const)]),
];

/** Reads the certificate of a state folder, or makes one for `host`. */
export const certificateIn = async (stateDir: string, host: string): Promise<Certificate> => {
  const keyFile = join(stateDir, 'rack-key.pem');
  const certFile = join(stateDir, 'rack-cert.pem');
  if (existsSync(keyFile) && existsSync(certFile))
    return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8') };
  const made = await makeCertificate(host);
  writeFileSync(keyFile, made.key, { mode: 0o600 });
  writeFileSync(certFile, made.cert);
  return made;
};

/** A fresh one that nobody knows yet. */
export const makeCertificate = async (host: string): Promise<Certificate> => {
  const made = await generate([{ name: 'commonName', value: 'emulated-rack' }], {
    keyType: 'ec',
    notAfterDate: new Date(Date.now() + 5 * 365 * 86_400_000),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: names(host) },
    ],
  });
  return { key: made.private, cert: made.cert };
};
