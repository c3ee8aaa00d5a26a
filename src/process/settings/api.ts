/** Settings of the API: listener, identity, policy, deployment and cleaning. */
import { z } from 'zod';
import { ramdiskNamePattern } from '../../model/boot/ramdisks';
import {
  commaList,
  count,
  flag,
  milliseconds,
  namedTexts,
  nonEmptyText,
  origins,
  port,
  strategies,
  strategyList,
  webUrl,
} from './kinds';

/** nodejs/node:doc/api/net.md, `reusePort` of `server.listen`: since 22.12.0 and 23.1.0. */
export const canReusePort = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12);
};

export const api = {
  TEMPER_API_HOST: nonEmptyText.default('127.0.0.1').describe('Address the API listens on.'),
  TEMPER_API_PORT: port.default(6385).describe('Port the API listens on.'),
  TEMPER_API_REUSE_PORT: flag
    .refine((on) => !on || canReusePort(process.versions.node), {
      error: () => `needs Node 22.12 or newer, and this is Node ${process.versions.node}`,
    })
    .default(false)
    .describe(
      'Whether further API processes of this host may listen on the same port, each with this setting; the kernel divides connections among them. Needs Node 22.12 or newer.',
    ),
  TEMPER_PUBLIC_ENDPOINT: webUrl.optional().describe('Base of the links in replies; the request’s host when unset.'),
  TEMPER_TEMPORAL_UI_URL: webUrl.optional().describe('Temporal’s web UI; runs then carry a link into it.'),
  TEMPER_AUTH_STRATEGY: strategyList.describe(
    `How callers prove who they are: one or several of ${strategies.join(', ')}, tried in this order. No default, so that no API is open by accident.`,
  ),
  TEMPER_NOAUTH_BEYOND_LOOPBACK: flag.default(false).describe('Allows noauth on an address that others can reach.'),
  TEMPER_IDENTITY_URL: webUrl.optional().describe('Keystone, with /v3; for the keystone strategy.'),
  TEMPER_IDENTITY_USERNAME: nonEmptyText.optional().describe('Our own user there, who validates tokens.'),
  TEMPER_IDENTITY_PASSWORD: nonEmptyText.optional().describe('Its password.'),
  TEMPER_IDENTITY_PROJECT: nonEmptyText.default('service').describe('Its project.'),
  TEMPER_IDENTITY_DOMAIN: nonEmptyText.default('Default').describe('Name of the domain of that user and project.'),
  TEMPER_IDENTITY_SYSTEM: flag
    .default(false)
    .describe('Whether it logs in for the whole system, for example as reader, in place of that project.'),
  TEMPER_IDENTITY_ADMIN_PROJECTS: flag
    .default(false)
    .describe(
      'Whether to ask Keystone in which other projects an admin is admin, for rules with admin_projects; our own user must be allowed to list role assignments. What it says is believed as long as the token, TEMPER_TOKEN_CACHE_SECONDS.',
    ),
  TEMPER_IDENTITY_PUBLIC_URL: webUrl
    .optional()
    .describe('Where callers without a valid token are sent to, when they reach Keystone by another address than we.'),
  TEMPER_TOKEN_CACHE_SECONDS: count(0)
    .default(300)
    .describe('How long a validated token is trusted without asking again: revocation lags by as much. 0 for never.'),
  TEMPER_TOKEN_OUTAGE_SECONDS: count(0)
    .default(900)
    .describe('How long beyond that while Keystone does not answer, and never beyond the end of the token.'),
  TEMPER_OIDC_FILE: nonEmptyText
    .optional()
    .describe('Issuers of tokens, and what their claims grant (YAML); for oidc.'),
  TEMPER_HTPASSWD_FILE: nonEmptyText.optional().describe('bcrypt htpasswd file; for http_basic.'),
  TEMPER_USERS_FILE: nonEmptyText
    .optional()
    .describe('Roles and scope of the users of htpasswd file and token file (YAML).'),
  TEMPER_TOKENS_FILE: nonEmptyText.optional().describe('Static tokens (YAML); for static_tokens.'),
  TEMPER_POLICY_SET: z
    .enum(['temper', 'ironic', 'closed'])
    .default('temper')
    .describe('Rules in force unless a file says otherwise.'),
  TEMPER_EVENT_STREAMS: count(1)
    .default(200)
    .describe('Event streams open at once at most, of all callers; a fifth of them is for callers of the system.'),
  TEMPER_POLICY_FILE: nonEmptyText.optional().describe('Policy file (YAML) whose rules replace those of the set.'),
  TEMPER_POLICY_DIRS: commaList
    .default([])
    .describe(
      'Folders (comma-separated) whose *.yaml, *.yml and *.json, sorted by name, are read after that file; later ones count.',
    ),
  TEMPER_POLICY_MODE: z
    .enum(['strict', 'compat'])
    .default('strict')
    .describe(
      'strict refuses texts that are hardly meant and never matches null; compat decides as oslo.policy does, and warns.',
    ),
  TEMPER_POLICY_NEW_DEFAULTS: flag
    .default(true)
    .describe('Set `ironic` only: false also admits what the deprecated text of a rule admits.'),
  TEMPER_POLICY_SERVICE_PROJECT: nonEmptyText
    .optional()
    .describe('Name of the project whose service users act as system members, such as service; none when unset.'),
  TEMPER_POLICY_SHADOW_FILE: nonEmptyText
    .optional()
    .describe(
      'A second policy file, which is evaluated beside the one in force without effect; differences are logged and counted.',
    ),
  TEMPER_POLICY_REMOTE_ORIGINS: origins
    .default([])
    .describe(
      'Origins that http: checks of a policy file may ask, such as https://pdp.example.org (comma-separated); such checks are false when empty. Every decision waits for the answer.',
    ),
  TEMPER_POLICY_REMOTE_TIMEOUT_MS: milliseconds
    .default(1_000)
    .describe('How long an http: check waits; no answer in time refuses.'),
  TEMPER_AGENT_REQUIRE_TLS: flag.default(true).describe('Whether ramdisks must be spoken to with TLS.'),
  TEMPER_HEARTBEAT_TIMEOUT_S: count(10)
    .default(300)
    .describe('Within how many seconds a ramdisk has to call back; it does so at a third to two thirds of them.'),
  TEMPER_MAX_CONCURRENT_CLEAN: count(0)
    .default(50)
    .describe('Cleanings and tear-downs at work at once; the others wait their turn. 0 for any number.'),
  TEMPER_MAX_CONCURRENT_DEPLOY: count(0)
    .default(250)
    .describe('Deployments at work at once; the others wait their turn. 0 for any number.'),
  TEMPER_AUTOMATED_CLEAN: flag
    .default(true)
    .describe('Whether nodes are cleaned before they become available, unless a node says so itself.'),
  TEMPER_CLEANING_RUNBOOKS: namedTexts
    .default({})
    .describe(
      'Runbooks of the system for automated cleaning, as <resource class>=<runbook>, comma-separated; * for all other classes. Found once, at the start. The node’s own list if none is named.',
    ),
  TEMPER_AUTOMATIC_LESSEE: z
    .enum(['instance', 'request', 'off'])
    .default('instance')
    .describe(
      'Who becomes lessee of a node deployed without one: the project of its instance_info, the caller’s, or none.',
    ),
  TEMPER_OPERATOR_TRAIT_PREFIX: z
    .string()
    .regex(/^(CUSTOM_[A-Z0-9_]+)?$/, 'must begin with CUSTOM_, followed by capitals, digits and underscores')
    .default('')
    .describe(
      'Traits that begin so, such as CUSTOM_APPROVED_, are given to nodes and runbooks by members of the system only; none when unset.',
    ),
  TEMPER_DEFAULT_RAMDISK: z
    .string()
    .regex(ramdiskNamePattern, 'must be the name of a ramdisk')
    .optional()
    .describe(
      'Ramdisk record that nodes are booted from whose driver_info names no image; none when unset: such nodes are refused.',
    ),
  TEMPER_DISCOVERY: flag
    .default(false)
    .describe(
      'Whether a machine without a node is recorded when its ramdisk sends an inspection, for operators to enrol or refuse; the boot service, if it is set there too, with TEMPER_DEFAULT_RAMDISK and TEMPER_RAMDISK_API_URL, boots such machines into that ramdisk by the network.',
    ),
  TEMPER_PROJECTS_MAY_ENROL: flag.default(false).describe('Whether a project’s admins may enrol nodes of their own.'),
};
