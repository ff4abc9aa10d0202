// Compiled as strictly as `ng new` sets a project up.
import { Component, signal } from '@angular/core';
import { Cdr, CdrError } from '@everchart/client';
import {
  ehrbaseBloodPressureSimpleDeV0 as bloodPressure,
  Position,
} from './gen/ehrbase-blood-pressure-simple-de-v0';

@Component({
  selector: 'app-entry',
  template: `
    <select>
      @for (position of positions; track position.code) {
        <option [value]="position.code">{{ position.label }}</option>
      }
    </select>
    <button (click)="save()">Save</button>
    <output>{{ said() }}</output>
  `,
})
export class Entry {
  protected readonly positions = Position.options('de');
  protected readonly said = signal('');
  private readonly cdr = new Cdr({ url: 'http://127.0.0.1:8080' });

  protected async save(): Promise<void> {
    try {
      const ehr = await this.cdr.ehr.create();
      const written = bloodPressure({ territory: 'GB', composer_name: 'Ada Moe' })
        .systolic({ magnitude: 120 })
        .diastolic({ magnitude: 80 })
        .position(Position.sitting)
        .build();
      this.said.set((await ehr.compositions.commit(written)).uid);
    } catch (error) {
      this.said.set(error instanceof CdrError ? error.message : String(error));
    }
  }
}
