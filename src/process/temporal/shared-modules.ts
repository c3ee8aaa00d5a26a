/** Pure modules that all workflows of a worker share: evaluated once and frozen, not once per cached run. */

/** Relative to the build folder. None may have state, because other runs would read it. */
export const sharedModules: readonly string[] = [
  'model/lifecycle/acts.js',
  'model/lifecycle/drivers.js',
  'model/lifecycle/states.js',
  'model/lifecycle/step-types.js',
  'model/lifecycle/steps-in-band.js',
  'model/lifecycle/steps-out-of-band.js',
  'model/lifecycle/steps.js',
  'model/runs/runs.js',
];
