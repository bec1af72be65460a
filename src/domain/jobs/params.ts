/** Named values that go to a media provider, such as `aspect_ratio: "16:9"`. */
export type Params = Readonly<Record<string, string | number | boolean>>
