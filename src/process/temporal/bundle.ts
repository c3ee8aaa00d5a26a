/** Workflow code of a control worker: prebuilt, or bundled at start. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { WorkerOptions } from '@temporalio/worker';
import { fileReason } from '../../model/file-faults';
import { ConfigFault } from '../settings/fault';
import { sharedModules } from './shared-modules';

const built = join(__dirname, '../..');

const bundleFrom = (codePath: string): WorkerOptions['workflowBundle'] => {
  try {
    accessSync(codePath, constants.R_OK);
    return { codePath };
  } catch (thrown) {
    throw new ConfigFault([
      `TEMPER_WORKFLOW_BUNDLE: ${codePath} could not be read${fileReason(thrown)}. Build it, or unset this to bundle at start.`,
    ]);
  }
};

/** @throws ConfigFault if the bundle cannot be read */
export const workflowsFrom = (
  bundle: string | undefined,
): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'bundlerOptions'> & { workflowModules?: string[] } =>
  bundle
    ? { workflowBundle: bundleFrom(bundle) }
    : {
        workflowsPath: join(built, 'workflows/index.js'),
        workflowModules: [join(built, 'workflows/trace.js')],
        bundlerOptions: { preloadModules: sharedModules.map((file) => join(built, file)) },
      };
