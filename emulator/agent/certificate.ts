/** A self-signed certificate as a ramdisk makes one at boot: for its address, and no authority. */
import { generate } from 'selfsigned';

export type Certificate = { readonly key: string; readonly cert: string };

const days = 86_400_000;

/**
 * `notAfter` in the past makes one that has expired. `by` signs it; `authority` makes one that may sign others.
 */
export const makeCertificate = async (
  host: string,
  notAfter = new Date(Date.now() + 90 * days),
  by?: Certificate | 'authority',
): Promise<Certificate> => {
  const authority = by === 'authority';
  const made = await generate([{ name: 'commonName', value: authority ? 'authority' : 'emulated-agent' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Math.min(Date.now(), notAfter.getTime()) - days),
    notAfterDate: notAfter,
    ...(typeof by === 'object' && { ca: by }),
    extensions: [
      ...(authority ? ([{ name: 'basicConstraints', cA: true, critical: true }] as const) : []),
      { name: 'subjectAltName', altNames: [{ type: 7, ip: host }] },
    ],
  });
  return { key: made.private, cert: made.cert };
};
