/** What all workflows of a worker share: pure tables, evaluated once and frozen instead of once for every run that is held in memory. */

/**
 * The modules of the model that workflows import, from the folder of the built files on. None may keep anything between two
 * calls: what one run left there, another would read.
 */
export const sharedModules: readonly string[] = [
  'model/lifecycle/acts.js',
  'model/lifecycle/drivers.js',
  'model/lifecycle/reported-steps.js',
  'model/lifecycle/states.js',
  'model/lifecycle/step-types.js',
  'model/lifecycle/steps-in-band.js',
  'model/lifecycle/steps-out-of-band.js',
  'model/lifecycle/steps.js',
  'model/runs/runs.js',
];
