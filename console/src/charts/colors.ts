/** Colours of what is no data. */
export interface ChartColors {
  readonly ink: string;
  readonly quiet: string;
  readonly line: string;
  readonly ground: string;
  readonly accent: string;
  readonly band: string;
}
