import { defineErrors } from './define.ts';

/** Errors of the places that pods come from: manifest files and URLs. */
export const sourceErrors = defineErrors('SRC', {
  badPod: [
    1,
    'Cannot use {pod} in {place}, document {document}: {problems}.',
    'Correct the named fields; the other pods of {place} are not affected.',
  ],
  badDocument: [
    2,
    'Cannot use document {document} of {place}: {problems}.',
    'Put a v1 Pod, PodList or List of pods there.',
  ],
  badSyntax: [
    3,
    'Cannot parse document {document} of {place}: {problem}.',
    'Write it as YAML or JSON; a running pod of this file goes on for now.',
  ],
  emptyFile: [4, '{place} holds no document.', 'Put a v1 Pod there, or remove the file.'],
  unreadableFile: [
    5,
    'Cannot read {place}: {problem}.',
    'Make it readable for the agent; pods of other files are not affected.',
  ],
  tooLarge: [6, '{place} is larger than {limit} bytes.', 'Split it into several manifests.'],
  notAFile: [
    7,
    '{place} is {kind}, neither a regular file nor a link to one; it is skipped.',
    'Put manifests directly into the folder; folders in it are not read. Names with a leading dot are skipped silently.',
  ],
  pathMissing: [
    8,
    'The path for static pods, {place}, does not exist.',
    'Create it, or change staticPodPath (--pod-manifest-path); it is looked for again every second.',
  ],
  duplicatePod: [
    9,
    'Pod {pod} stands more than once in source {source}: two pods have the same {shared} "{value}". Only the {runs} runs.',
    'Give each pod its own metadata.name (and metadata.uid, where it is set).',
  ],
  urlFailed: [
    10,
    'Cannot read pods from {place}: {problem}.',
    'Check staticPodURL (--manifest-url) and its headers; pods that came from it before go on.',
  ],
  urlEmpty: [
    11,
    'Zero-length data received from {place}: no pods come from there.',
    'Serve a Pod or a PodList; an empty PodList says that there are none.',
  ],
  badPath: [
    12,
    'The path for static pods, {place}, is neither a folder nor a regular file.',
    'Let staticPodPath (--pod-manifest-path) name a folder or one file.',
  ],
  moreErrors: [15, '{count} more errors in {place}.', 'Correct the first ones; the others are told then.'],
  ownBesideUrl: [
    14,
    'An own source of pods and staticPodURL {place} were given; both are source http.',
    'Leave one of them out.',
  ],
  badUrl: [13, 'staticPodURL {place} is no http or https URL.', 'Give a full URL such as http://host/pods.yaml.'],
});
