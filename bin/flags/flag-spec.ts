/** How a flag's value is written and read. */
export type FlagKind =
  | 'bool'
  | 'string'
  | 'int'
  | 'duration'
  | 'list'
  | 'map'
  | 'gates'
  | 'ip'
  | 'quantity'
  | 'taints'
  | 'reservedMemory'
  | 'headers'
  | 'vmodule'
  | 'version';

/** Why a flag is deprecated; {@link DEPRECATIONS} has kubelet's words. */
export type Deprecation = 'file' | 'cadvisor' | 'eviction' | 'mounter' | 'ignore';

/** One flag of the daemon. */
export interface FlagSpec {
  /** Without dashes. */
  name: string;
  kind: FlagKind;
  /** Heading in `--help`. */
  group: string;
  /** Dotted path of the field of KubeletConfiguration that it sets. */
  field?: string;
  /** Default as kubelet's help shows it. */
  preset?: string;
  deprecated?: Deprecation;
  /** Of a flag without field that is accepted without effect: why there is nothing to do. */
  moot?: string;
  usage: string;
  /** Between key and value of a `map`; `=` when absent. */
  separator?: '<';
  /** The words that are accepted, for a `string` with few values. */
  words?: readonly string[];
  /** What the flag means without a value (pflag's NoOptDefVal); it then takes none from the next argument. */
  bare?: string;
  /** Shown in --help in this form instead of `--name`. */
  shownAs?: string;
}

/** What kubelet says after "Flag --x has been deprecated, ". */
export const DEPRECATIONS: Readonly<Record<Deprecation, string>> = {
  file: "This parameter should be set via the config file specified by the Kubelet's --config flag. See https://kubernetes.io/docs/tasks/administer-cluster/kubelet-config-file/ for more information.",
  cadvisor:
    'This is a cadvisor flag that was mistakenly registered with the Kubelet. Due to legacy concerns, it will follow the standard CLI deprecation timeline before being removed.',
  eviction: 'Use --eviction-hard or --eviction-soft instead. Will be removed in a future version.',
  mounter: 'will be removed in 1.25 or later. in favor of using CSI.',
  ignore: 'will be removed in 1.25 or later.',
};
