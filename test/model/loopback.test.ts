/** Hosts that lead to this machine only: they may be used without TLS and without a login. */
import { isLoopback } from '../../src/model/access/loopback';

test.each([
  'localhost',
  'LocalHost',
  '127.0.0.1',
  '127.8.9.10',
  '::1',
  '[::1]',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  '[::ffff:7f08:90a]',
])('%s is a loopback host', (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each([
  '',
  '0.0.0.0',
  '::',
  '10.0.0.1',
  '128.0.0.1',
  '127.0.0.1.example.org',
  'localhost.example.org',
  'mylocalhost',
  '127.0.0',
  '127.1',
  '::1:80',
  '[::1]:80',
  '::1]/[',
  '::ffff:10.0.0.1',
  '[::2]',
])('%s is none', (host) => {
  expect(isLoopback(host)).toBe(false);
});
