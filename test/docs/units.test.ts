/** The units of systemd against the product's processes: each is started, with its own settings and no others, and with few rights. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../..');
const folder = join(root, 'deploy/systemd');

type Unit = { readonly values: (key: string) => string[]; readonly keys: string[] };
const unitOf = (file: string): Unit => {
  const lines = [...readFileSync(join(folder, file), 'utf8').matchAll(/^(\w+)=(.*)$/gm)];
  return {
    values: (key) => lines.filter(([, one]) => one === key).map(([, , value]) => value!),
    keys: lines.map(([, key]) => key!),
  };
};

/** Unit, program with its argument, user, files of settings. */
const table = [
  ['temper-api.service', 'api.js', 'temper-api', ['shared', 'api']],
  ['temper-api-ramdisks.service', 'api.js ramdisks', 'temper-api', ['shared', 'api', 'api-ramdisks']],
  ['temper-api@.service', 'api.js', 'temper-api', ['shared', 'api', 'api-%i']],
  ['temper-worker-control.service', 'worker.js control', 'temper-control', ['shared', 'control']],
  ['temper-worker-bmc@.service', 'worker.js bmc', 'temper-bmc', ['shared', 'bmc', 'bmc-%i']],
  ['temper-boot.service', 'boot.js', 'temper-boot', ['shared', 'boot']],
  ['temper-console.service', 'console.js', 'temper-console', ['shared', 'console']],
  ['temper-notifications.service', 'notifications.js', 'temper-notifications', ['shared', 'notifications']],
  ['temper-migrate.service', 'migrate.js', 'temper-migrate', ['shared', 'migrate']],
] as const;

test('there is a unit for each process, and no other', () => {
  const units = readdirSync(folder).filter((file) => file.endsWith('.service'));
  expect(units.sort()).toEqual(table.map(([file]) => file).sort());
});

test.each(table)(
  '%s starts %s as a user of its own, with the settings of that process',
  (file, command, user, settings) => {
    const unit = unitOf(file);
    expect(unit.values('ExecStart')).toEqual([
      `/usr/bin/node --enable-source-maps /usr/lib/temper/dist/bin/${command}`,
    ]);
    expect(existsSync(join(root, 'src/bin', command.split(' ')[0]!.replace('.js', '.ts')))).toBe(true);
    expect([unit.values('User'), unit.values('Group')]).toEqual([[user], ['temper']]);
    expect(unit.values('EnvironmentFile').map((name) => name.replace(/^-/, ''))).toEqual(
      settings.map((name) => `/etc/temper/${name}.env`),
    );
    const users = readFileSync(join(folder, 'temper.sysusers'), 'utf8');
    expect(users).toMatch(new RegExp(`^u ${user} -:temper `, 'm'));
  },
);

test('all of them give up the same rights', () => {
  const given = table.map(([file]) => {
    const unit = unitOf(file);
    const rights = unit.keys.filter((key) =>
      /^(Protect|Private|Restrict(?!Prevent)|System|Lock|NoNew|Cap|UMask)/.test(key),
    );
    return rights.filter((key) => !/^RestartPrevent/.test(key)).map((key) => `${key}=${unit.values(key)}`);
  });
  expect(given[0]!.length).toBeGreaterThan(15);
  for (const one of given) expect(one).toEqual(given[0]);
});

test('a fault in the settings is not tried again and again', () => {
  for (const [file] of table.slice(0, -1)) expect(unitOf(file).values('RestartPreventExitStatus')).toEqual(['78']);
});

test('workers of one host, and of several, have names that differ', () => {
  expect(unitOf('temper-worker-bmc@.service').values('Environment')).toContain('TEMPER_WORKER_HOSTNAME=%H-%i');
});

test('the boot service may write where it keeps images of image records and lists machines for DHCP, and nowhere else', () => {
  const [user] = unitOf('temper-boot.service').values('User');
  const written = ['/var/lib/temper/boot/images', '/var/lib/temper/dhcp/machines'];
  expect(unitOf('temper-boot.service').values('ReadWritePaths')).toEqual([written.map((path) => `-${path}`).join(' ')]);
  const made = readFileSync(join(folder, 'temper.tmpfiles'), 'utf8');
  expect([...made.matchAll(/^d (\S+) 0755 (\S+) temper$/gm)].map(([, path, owner]) => [path, owner])).toEqual(
    written.map((path) => [path, user]),
  );
  for (const [file] of table.filter(([file]) => file !== 'temper-boot.service'))
    expect(unitOf(file).values('ReadWritePaths')).toEqual([]);
});

test('processes of one host have health ports that differ', () => {
  const ports = table
    .slice(0, -1)
    .map(([file]) => /TEMPER_HEALTH_PORT=(\d+|%i)/.exec(unitOf(file).values('Environment').join(' '))?.[1]);
  expect(new Set(ports).size).toBe(ports.length);
  expect(ports).not.toContain(undefined);
});
