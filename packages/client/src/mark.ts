/** What an EHR, or something in it, is marked with. */
export interface Mark {
  readonly kind: 'restriction_of_processing' | 'patient_restriction' | 'research_objection';
  readonly ground: string;
  /** Container of a COMPOSITION; alone. */
  readonly object_uid?: string;
  readonly template_id?: string;
  /** One of openEHR's own (`event`, `persistent`, `episodic`), or of those that the server keeps. */
  readonly category?: string;
  readonly origin?: string;
  readonly organisation?: string;
  /** Dates or dates and times, both included. */
  readonly from?: string;
  readonly to?: string;
}

/** A mark as the server has it; it may be sent back as it is. */
export interface SetMark extends Mark {
  readonly time: string;
  readonly by: string;
  /** Only in a history: it holds no more. */
  readonly lifted?: { readonly time: string; readonly by: string };
}
