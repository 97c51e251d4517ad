DEVICE_NAME = "cuda"
BATCH = 8
LEARNING_RATE = 5e-4
MOODS = ("calm", "happy", "sad", "angry")
N_MELS = 40
FRAMES = 50
