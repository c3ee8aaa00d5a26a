/** Logins on a machine of the lab. */
import { generateKeyPairSync } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './shell';
import type { ToolsRoot } from './tools-root';

const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', 'ConnectTimeout=30'];
const flags = options.flatMap((option) => ['-o', option]);

/** A key, made by ssh-keygen's own format: the line of authorized_keys, and the file of the private part in `folder`. */
export const sshKey = (folder: string): { readonly publicKey: string; readonly privateKey: string } => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 3072 });
  const file = join(folder, 'key');
  rmSync(file, { force: true });
  writeFileSync(file, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  const { e, n } = publicKey.export({ format: 'jwk' });
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, bytes.length >> 8, bytes.length & 255]), bytes]);
  const modulus = Buffer.concat([Buffer.from([0]), Buffer.from(n!, 'base64url')]);
  const wire = [Buffer.from('ssh-rsa'), Buffer.from(e!, 'base64url'), modulus].map(field);
  return { publicKey: `ssh-rsa ${Buffer.concat(wire).toString('base64')} metal`, privateKey: file };
};

export type Login = { readonly user: string; readonly address: () => string } & (
  | { readonly key: string }
  | { readonly password: string }
);

/** Runs a command on the machine as soon as it lets the login in. @returns what it printed */
export const onceIn = async (tools: ToolsRoot, login: Login, withinMs: number, command: string): Promise<string> => {
  const begins = 'key' in login ? ['ssh', '-i', login.key] : ['sshpass', '-p', login.password, 'ssh'];
  let printed = '';
  // The address may be another at the next attempt, or not be there yet.
  const attempt = async (): Promise<boolean> => {
    printed = (
      await tools.run(begins[0]!, ...begins.slice(1), ...flags, `${login.user}@${login.address()}`, command)
    ).trim();
    return true;
  };
  await until(`${login.user} to be let in`, withinMs, () => attempt().catch(() => false));
  return printed;
};
